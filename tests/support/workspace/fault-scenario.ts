import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import type { ModelAction } from "weakincentives/local";
import type { OpenAIContainerWorkspaceSectionOptions } from "weakincentives/openai";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { readRecords, readString } from "../../../src/base/json.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import {
  type ContainerFault,
  type ContainerFaultFixture,
  createContainerFaultFixture,
  type TaskScript,
} from "./container-fault-fixture.ts";
import type { RelayedRequest } from "./fault-relay.ts";
import { PATH_LOOKUP, ReferenceFolder } from "./reference-folder.ts";
import { createRepository, readFiles } from "./workspace-fixture.ts";

/** The code steps, in order. */
export type ScenarioStep = "first" | "second" | "third";

const CODE: Readonly<Record<ScenarioStep, string>> = {
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

/** Options of a {@link FaultScenario}. */
export interface FaultScenarioOptions {
  readonly unpack: "bootstrap" | "files";
  readonly fault: ContainerFault;
  readonly section?: Partial<OpenAIContainerWorkspaceSectionOptions>;
  /** The step whose changes are lost with the container and not repeated. @default none */
  readonly loses?: ScenarioStep | undefined;
  /** Called in the tool before it writes. */
  readonly inTool?: ((scenario: FaultScenario) => Promise<void>) | undefined;
}

/**
 * Two evaluations of one workspace: code, a tool that writes and deletes, code again; then a write by the caller,
 * and code once more. The same changes are applied to a plain folder, which is compared with the synced files.
 */
export class FaultScenario {
  readonly options: FaultScenarioOptions;
  readonly fixture: ContainerFaultFixture;
  readonly reference: ReferenceFolder;
  /** Code to run once instead of the next step. */
  readonly replacementCode: string[] = [];
  /** The warnings that were logged. */
  readonly #warnings: readonly string[];

  private constructor(
    options: FaultScenarioOptions,
    fixture: ContainerFaultFixture,
    { reference, warnings }: { reference: ReferenceFolder; warnings: readonly string[] },
  ) {
    this.options = options;
    this.fixture = fixture;
    this.reference = reference;
    this.#warnings = warnings;
  }

  static async start(options: FaultScenarioOptions): Promise<FaultScenario> {
    const folder = createRepository(MOUNTED);
    const reference = new ReferenceFolder(createRepository({}));
    for (const [path, bytes] of Object.entries(MOUNTED)) reference.write(`p/${path}`, bytes);
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const script: TaskScript = (task, items) => scenario.#playModel(task, items);
    const fixture = await createContainerFaultFixture(script, {
      section: {
        mounts: [{ hostPath: folder, mountPath: "p" }],
        unpack: options.unpack,
        syncPolicy: "eachTurn",
        ...options.section,
      },
      adapter: { logger: { ...silentLogger, warn } },
      note: () => scenario.#runNoteTool(),
    });
    const scenario = new FaultScenario(options, fixture, { reference, warnings });
    return scenario;
  }

  /** How many warnings were logged about downloads that failed. */
  get failedDownloads(): number {
    const message = "could not download the changes that code made";
    return this.#warnings.filter((warning) => warning === message).length;
  }

  /** Returns the function that kills a container. */
  get kill(): (containerId: string) => Promise<void> {
    return this.fixture.kill(this.options.fault);
  }

  /** Kills the current container. */
  async killCurrent(): Promise<void> {
    await this.kill(this.fixture.section.containerId ?? "");
  }

  /**
   * Lets the provider list no files from the conversation's `nth` request on, so that nothing is downloaded after it.
   * Returns the function that ends that.
   */
  blockDownloads(nth: number): () => void {
    const { relay } = this.fixture;
    let isBlocked = true;
    relay.respondWith((request) =>
      isBlocked && isFileList(request) && relay.requests.filter(isConversationRequest).length >= nth
        ? { status: 400, json: { error: { message: "Not now." } } }
        : null,
    );
    return () => {
      isBlocked = false;
    };
  }

  async evaluateFirst(): Promise<void> {
    expect(await this.fixture.evaluate("One.")).toBe("Done.");
    this.applyToReference("first");
    this.applyNoteToReference();
    this.applyToReference("second");
  }

  async writeBetween(): Promise<void> {
    await this.fixture.section.filesystem.writeText("p/between.txt", "from outside\n");
    this.reference.write("p/between.txt", "from outside\n");
  }

  async evaluateSecond(): Promise<void> {
    expect(await this.fixture.evaluate("Two.")).toBe("Done.");
    this.applyToReference("third");
  }

  async runAll(): Promise<void> {
    await this.evaluateFirst();
    await this.writeBetween();
    await this.evaluateSecond();
  }

  applyToReference(act: ScenarioStep): void {
    if (act !== this.options.loses) this.reference.run(CODE[act]);
  }

  applyNoteToReference(): void {
    this.reference.write("p/note.md", "a note\n");
    this.reference.delete("p/keep.md");
  }

  /** Cleans up, then asserts that the synced files equal the reference and that requests and events are consistent. */
  async expectNothingLost(): Promise<void> {
    const { section } = this.fixture;
    await section.cleanup();
    expect(readFiles(section.syncedDir ?? "")).toEqual(this.reference.files);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    expectConsistentRequests(this.fixture);
  }

  async #runNoteTool(): Promise<void> {
    const { filesystem } = this.fixture.section;
    await this.options.inTool?.(this);
    await filesystem.writeText("p/note.md", "a note\n");
    await filesystem.delete("p/keep.md");
  }

  /** Chooses the next step from the history, so that no step runs twice even if items were dropped. */
  #playModel(
    task: string,
    items: readonly Readonly<Record<string, unknown>>[],
  ): readonly ModelAction[] {
    const noted = items.findLastIndex(({ type }) => type === "function_call_output");
    const ran = items.slice(noted + 1).some(({ type }) => type === "code_interpreter_call");
    if (ran) return noted < 0 && task.includes("One.") ? [{ call: NOTE }] : [{ say: "Done." }];
    const code = this.replacementCode.shift();
    if (code !== undefined) return [{ code }];
    const act = task.includes("Two.") ? "third" : noted < 0 ? "first" : "second";
    return [{ code: PATH_LOOKUP + CODE[act] }];
  }
}

const NOTE = { name: "note", args: {} };

/** Whether a request belongs to the conversation, not to the workspace. */
export function isConversationRequest(request: RelayedRequest): boolean {
  return isResponseRequest(request) && !isWorkspaceRequest(request);
}

/** Whether the workspace sent the request to run Python. */
export function isWorkspaceRequest(request: RelayedRequest): boolean {
  return isResponseRequest(request) && isPlainObject(request.body["tool_choice"]);
}

/** Returns the notes about replaced containers in a request. */
export function readReplacementNotes({ body }: RelayedRequest): readonly string[] {
  const messages = readRecords(body, "input").filter(({ role }) => role === "developer");
  return messages
    .map((message) => readString(message, "content"))
    .filter((text) => /replaced/.test(text));
}

function isFileList({ method, path }: RelayedRequest): boolean {
  return method === "GET" && /^\/containers\/[^/]+\/files$/.test(path);
}

function isResponseRequest({ method, path }: RelayedRequest): boolean {
  return method === "POST" && path === "/responses";
}

/** Asserts that no code failed, and that after a replacement no request names the old container and the model is informed. */
function expectConsistentRequests({ relay, findEvents }: ContainerFaultFixture): void {
  const failures = findEvents("ToolInvoked").filter((event) =>
    JSON.stringify(event).includes("Traceback"),
  );
  expect(failures).toEqual([]);
  for (const { containerId, replacedBy, lost } of findEvents("ContainerReplaced")) {
    const first = relay.requests.findIndex((request) => request.containerId === replacedBy);
    const turns = relay.requests.slice(first).filter(isConversationRequest);
    expect(turns.filter(({ text }) => text.includes(containerId))).toEqual([]);
    const lines = turns.slice(0, 1).flatMap(readReplacementNotes);
    expect(lines.length > 0).toBe(turns.length > 0 && lost.length > 0);
    expect(lines.join()).not.toContain("\n");
  }
}
