import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import type { ModelAction } from "weakincentives/local";
import type { OpenAIContainerWorkspaceSectionOptions } from "weakincentives/openai";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { recordsAt, textAt } from "../../../src/base/reading.ts";
import { type FaultStage, type Form, faultStage, type Script } from "./fault-stage.ts";
import type { RelayedRequest } from "./relay.ts";
import { filesIn, repository } from "./stage.ts";
import { FINDING, Twin } from "./twin.ts";

/** What code does, in the order it is done. */
export type Act = "first" | "second" | "third";

const CODE: Readonly<Record<Act, string>> = {
  first: `open(at("p/a.txt"), "a").write("two\\n")
os.makedirs("p/out", exist_ok=True)
open("p/out/made.png", "wb").write(bytes(range(256)))
open("top.txt", "w").write("top")
None`,
  second: `whole = open(at("p/src/b.pkl"), "rb").read()
open(at("p/src/b.pkl"), "wb").write(whole[::-1])
os.makedirs("p", exist_ok=True)
open("p/seen.txt", "w").write(open(at("p/note.md")).read())
None`,
  third: `open(at("p/a.txt"), "a").write("three\\n")
os.remove(at("p/gone.txt"))
os.rename(at("top.txt"), "moved.txt")`,
};

const MOUNTED = {
  "a.txt": "one\n",
  "src/b.pkl": new Uint8Array(Array.from({ length: 5_000 }, (_, place) => (place * 7) % 256)),
  "keep.md": "for the tool to delete\n",
  "gone.txt": "for code to delete\n",
  "empty.txt": "",
};

/** How a story is told. */
export interface StoryOptions {
  readonly unpack: "bootstrap" | "files";
  readonly form: Form;
  readonly section?: Partial<OpenAIContainerWorkspaceSectionOptions>;
  /** What code does in this act goes with the container, and is not done again. @default none */
  readonly loses?: Act | undefined;
  /** Within the tool, before it writes. */
  readonly inTool?: ((story: Story) => Promise<void>) | undefined;
}

/**
 * Two evaluations of one workspace: code, a tool that writes and deletes, code again; a write from
 * outside; code once more. A plain folder sees the same, and is compared with what comes back.
 */
export class Story {
  readonly options: StoryOptions;
  readonly stage: FaultStage;
  readonly twin: Twin;
  /** Code that is run in place of the next act, once. */
  readonly instead: string[] = [];

  private constructor(options: StoryOptions, stage: FaultStage, twin: Twin) {
    this.options = options;
    this.stage = stage;
    this.twin = twin;
  }

  static async begin(options: StoryOptions): Promise<Story> {
    const folder = repository(MOUNTED);
    const twin = new Twin(repository({}));
    for (const [path, bytes] of Object.entries(MOUNTED)) twin.write(`p/${path}`, bytes);
    const script: Script = (task, items) => story.#play(task, items);
    const stage = await faultStage(script, {
      section: {
        mounts: [{ hostPath: folder, mountPath: "p" }],
        unpack: options.unpack,
        syncPolicy: "eachTurn",
        ...options.section,
      },
      note: () => story.#note(),
    });
    const story = new Story(options, stage, twin);
    return story;
  }

  /** Kills whichever container it is told. */
  get kill(): (containerId: string) => Promise<void> {
    return this.stage.kill(this.options.form);
  }

  /** Kills the one that is used now. */
  async killNow(): Promise<void> {
    await this.kill(this.stage.section.containerId ?? "");
  }

  async one(): Promise<void> {
    expect(await this.stage.evaluate("One.")).toBe("Done.");
    this.twinActs("first");
    this.twinNotes();
    this.twinActs("second");
  }

  async between(): Promise<void> {
    await this.stage.section.filesystem.writeText("p/between.txt", "from outside\n");
    this.twin.write("p/between.txt", "from outside\n");
  }

  async two(): Promise<void> {
    expect(await this.stage.evaluate("Two.")).toBe("Done.");
    this.twinActs("third");
  }

  async all(): Promise<void> {
    await this.one();
    await this.between();
    await this.two();
  }

  twinActs(act: Act): void {
    if (act !== this.options.loses) this.twin.run(CODE[act]);
  }

  twinNotes(): void {
    this.twin.write("p/note.md", "a note\n");
    this.twin.delete("p/keep.md");
  }

  /** Cleans up, finds not one byte that differs, and that what was sent and told is in order. */
  async expectNothingLost(): Promise<void> {
    const { section } = this.stage;
    await section.cleanup();
    expect(filesIn(section.syncedDir ?? "")).toEqual(this.twin.files);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    expectAllInOrder(this.stage);
  }

  async #note(): Promise<void> {
    const { filesystem } = this.stage.section;
    await this.options.inTool?.(this);
    await filesystem.writeText("p/note.md", "a note\n");
    await filesystem.delete("p/keep.md");
  }

  /** Whatever was dropped from the history: the same act is not done twice. */
  #play(task: string, items: readonly Readonly<Record<string, unknown>>[]): readonly ModelAction[] {
    const noted = items.findLastIndex(({ type }) => type === "function_call_output");
    const ran = items.slice(noted + 1).some(({ type }) => type === "code_interpreter_call");
    if (ran) return noted < 0 && task.includes("One.") ? [{ call: NOTE }] : [{ say: "Done." }];
    const code = this.instead.shift();
    if (code !== undefined) return [{ code }];
    const act = task.includes("Two.") ? "third" : noted < 0 ? "first" : "second";
    return [{ code: FINDING + CODE[act] }];
  }
}

const NOTE = { name: "note", args: {} };

/** A request of the conversation, not one of the workspace's own. */
export function isTurn(request: RelayedRequest): boolean {
  return isRequest(request) && !isBlock(request);
}

/** A request of the workspace's own, which runs a block of Python. */
export function isBlock(request: RelayedRequest): boolean {
  return isRequest(request) && isPlainObject(request.body["tool_choice"]);
}

/** What the model is told of a replacement in a request. */
export function replacementsToldIn({ body }: RelayedRequest): readonly string[] {
  const said = recordsAt(body, "input").filter(({ role }) => role === "developer");
  return said.map((message) => textAt(message, "content")).filter((text) => /replaced/.test(text));
}

function isRequest({ method, path }: RelayedRequest): boolean {
  return method === "POST" && path === "/responses";
}

/** No code failed; after a replacement nothing names the dead container, and the model is told. */
function expectAllInOrder({ relay, told }: FaultStage): void {
  const failures = told("ToolInvoked").filter((event) =>
    JSON.stringify(event).includes("Traceback"),
  );
  expect(failures).toEqual([]);
  for (const { containerId, replacedBy, lost } of told("ContainerReplaced")) {
    const first = relay.requests.findIndex((request) => request.containerId === replacedBy);
    const turns = relay.requests.slice(first).filter(isTurn);
    expect(turns.filter(({ text }) => text.includes(containerId))).toEqual([]);
    const lines = turns.slice(0, 1).flatMap(replacementsToldIn);
    expect(lines.length > 0).toBe(turns.length > 0 && lost.length > 0);
    expect(lines.join()).not.toContain("\n");
  }
}
