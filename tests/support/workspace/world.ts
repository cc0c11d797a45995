import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ModelAction } from "weakincentives/local";
import { ContainerExpiredError } from "weakincentives/openai";
import { FilesystemError } from "../../../src/base/filesystem-error.ts";
import { treeDigest } from "../../../src/files/digests/file-digests.ts";
import type { Filesystem, FsSnapshot } from "../../../src/files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../../src/files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../../src/files/filesystem/in-memory-filesystem.ts";
import { type Tree, treeOf } from "../../../src/testing/filesystem/filesystem-case.ts";
import { type CodeAct, type Files, planned } from "./code-acts.ts";
import { type FaultStage, type Form, faultStage } from "./fault-stage.ts";
import type { Moment } from "./relay.ts";
import { filesIn } from "./stage.ts";

/** Something done through a file system, `marks` being the snapshots that were taken so far. */
export type FileAct = (filesystem: Filesystem, marks: FsSnapshot[]) => Promise<unknown>;

/** A death that waits for its request. */
export interface Ambush {
  readonly on: RegExp;
  readonly when: Moment;
  readonly nth: number;
  readonly form: Form;
}

/** A workspace, and what is known of it here: the same is done to both, and they are compared. */
export class World {
  readonly stage: FaultStage;
  #model = new InMemoryFilesystem();
  #files: Files = new Map();
  #marks: { readonly real: FsSnapshot[]; readonly known: FsSnapshot[] } = { real: [], known: [] };
  #code: string | null = null;
  #deaths = 0;

  private constructor(stage: FaultStage) {
    this.stage = stage;
  }

  /** With a container that has nothing in it. */
  static async begin(unpack: "bootstrap" | "files"): Promise<World> {
    const section = { unpack, syncPolicy: "eachTurn" } as const;
    const stage = await faultStage((_task, items) => world.#play(items), { section });
    const world = new World(stage);
    await world.talks();
    return world;
  }

  /** Byte for byte, by path. */
  get files(): Files {
    return this.#files;
  }

  /** Does the same to both. What fails because containers die has done nothing. */
  async does(act: FileAct): Promise<void> {
    const { filesystem } = this.stage.section;
    const deaths = this.#deaths;
    const real = await outcome(filesystem, this.#marks.real, act);
    if (real === "gone") return void expect(this.#deaths).toBeGreaterThan(deaths);
    expect(real).toEqual(await outcome(this.#model, this.#marks.known, act));
    this.#files = textsIn(await treeOf(this.#model));
  }

  /** An evaluation in which no code runs changes nothing. */
  async talks(): Promise<void> {
    this.#code = null;
    await this.#evaluates();
    await this.expectSame();
  }

  /** An evaluation with code: all of it is done, or nothing if a container died on the way. */
  async runs(acts: readonly CodeAct[]): Promise<void> {
    await this.#forgetSnapshots();
    const before = this.#files;
    const { code, after } = planned(acts, before);
    this.#code = code;
    const deaths = this.#deaths;
    const found = await this.#evaluates();
    if (this.#deaths > deaths) await this.#settles();
    const is = new Map(Object.entries(filesIn(this.stage.section.tempDir)));
    const mayBeLost = found === null || this.#deaths > deaths;
    expect(is).toEqual(mayBeLost && isSame(is, before) ? before : after);
    if (found !== null) expect(found).toContain(`tree:${digestOf(before)}`);
    await this.#takeOver();
  }

  /** Kills the container that there is. */
  async dies(form: Form): Promise<void> {
    const id = this.stage.section.containerId;
    if (id !== null) await this.#kill(form, id);
  }

  /** Kills the container at a request to come. */
  liesInWait({ on, when, nth, form }: Ambush): void {
    this.stage.relay.strike({ on, when, nth, act: (id) => this.#kill(form, id) });
  }

  /** The files on this machine are what is known of them. */
  async expectSame(): Promise<void> {
    expect(await this.#treeHere()).toEqual(await treeOf(this.#model));
  }

  /** So are those that are brought back in the end. */
  async ends(): Promise<void> {
    const { section } = this.stage;
    await section.cleanup();
    expect(new Map(Object.entries(filesIn(section.syncedDir ?? "")))).toEqual(this.#files);
  }

  async #kill(form: Form, id: string): Promise<void> {
    this.#deaths += 1;
    await this.stage
      .kill(form)(id)
      .catch(() => undefined); // it may be dead
  }

  /** What code printed; `null` if containers died too often. */
  async #evaluates(): Promise<string | null> {
    const { stage } = this;
    const ran = stage.told("ToolInvoked").length;
    const deaths = this.#deaths;
    try {
      expect(await stage.evaluate("Go on.")).toBe("Done.");
    } catch (error) {
      if (!isGone(error)) throw error;
      expect(this.#deaths).toBeGreaterThan(deaths);
      return null;
    }
    const [call, ...more] = stage.told("ToolInvoked").slice(ran);
    const { stdout = "", stderr = "" } = Object(call?.result.value);
    const printed = `${stdout}${stderr}`;
    expect([printed.includes("Traceback"), more], printed).toEqual([false, []]);
    return printed;
  }

  #play(items: readonly Readonly<Record<string, unknown>>[]): readonly ModelAction[] {
    const hasRun = items.some(({ type }) => type === "code_interpreter_call");
    return hasRun || this.#code === null ? [{ say: "Done." }] : [{ code: this.#code }];
  }

  /** What could not be fetched after a turn is fetched before the next look, if it is still there. */
  async #settles(): Promise<void> {
    const { filesystem } = this.stage.section;
    for (let tries = 0; tries < 5; tries++) {
      if ((await outcome(filesystem, [], (files) => files.exists("."))) !== "gone") return;
    }
    throw new Error("Containers die for ever");
  }

  /** A snapshot covers what is done through the file system, not what code does. */
  async #forgetSnapshots(): Promise<void> {
    const { filesystem } = this.stage.section;
    for (const mark of this.#marks.real) await filesystem.release(mark);
    this.#marks = { real: [], known: [] };
  }

  /** Which folders are left after code is not told; which files are, was checked. */
  async #takeOver(): Promise<void> {
    this.#model = new InMemoryFilesystem();
    for (const [path, bytes] of Object.entries(await this.#treeHere())) {
      if (bytes === null) await this.#model.mkdir(path);
      else await this.#model.write(path, new Uint8Array(bytes));
    }
    this.#files = textsIn(await treeOf(this.#model));
  }

  async #treeHere(): Promise<Tree> {
    return await treeOf(new HostFilesystem(this.stage.section.tempDir));
  }
}

/** What came of it: a result, or the code of its error; `"gone"` if a container was not to be had. */
async function outcome(
  filesystem: Filesystem,
  marks: FsSnapshot[],
  act: FileAct,
): Promise<unknown> {
  try {
    return { result: await act(filesystem, marks) };
  } catch (error) {
    if (error instanceof FilesystemError) return { code: error.code };
    if (isGone(error)) return "gone";
    throw error;
  }
}

function isGone(error: unknown): boolean {
  if (error instanceof ContainerExpiredError) return true;
  return error instanceof Error && error.cause instanceof ContainerExpiredError;
}

function isSame(one: Files, other: Files): boolean {
  return one.size === other.size && [...one].every(([path, text]) => other.get(path) === text);
}

function textsIn(tree: Tree): Files {
  const files = Object.entries(tree).flatMap(([path, bytes]) =>
    bytes === null ? [] : [[path, Buffer.from(bytes).toString("latin1")] as const],
  );
  return new Map(files);
}

function digestOf(files: Files): string {
  const digests = [...files].map(
    ([path, text]) =>
      [path, createHash("sha256").update(Buffer.from(text, "latin1")).digest("hex")] as const,
  );
  return treeDigest(new Map(digests));
}
