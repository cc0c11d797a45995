import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ModelAction } from "weakincentives/local";
import { ContainerExpiredError } from "weakincentives/openai";
import { FilesystemError } from "../../../src/base/filesystem-error.ts";
import { digestTree } from "../../../src/files/digests/digest-files.ts";
import type { Filesystem, FsSnapshot } from "../../../src/files/filesystem/filesystem.ts";
import { HostFilesystem } from "../../../src/files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../../src/files/filesystem/in-memory-filesystem.ts";
import { readTree, type Tree } from "../../../src/testing/filesystem/filesystem-case.ts";
import { type CodeChange, type Files, planCode } from "./code-changes.ts";
import {
  type ContainerFault,
  type ContainerFaultFixture,
  createContainerFaultFixture,
} from "./container-fault-fixture.ts";
import type { FaultMoment } from "./fault-relay.ts";
import { readFiles } from "./workspace-fixture.ts";

/** An operation on a file system. `marks` are the snapshots taken so far. */
export type FileOperation = (filesystem: Filesystem, marks: FsSnapshot[]) => Promise<unknown>;

/** A container fault that happens at a later request. */
export interface PlannedFault {
  readonly on: RegExp;
  readonly when: FaultMoment;
  readonly nth: number;
  readonly fault: ContainerFault;
}

/** A workspace and a model of its files. Every operation is applied to both, and the results are compared. */
export class WorkspaceModel {
  readonly fixture: ContainerFaultFixture;
  #model = new InMemoryFilesystem();
  #files: Files = new Map();
  #marks: { readonly real: FsSnapshot[]; readonly known: FsSnapshot[] } = { real: [], known: [] };
  #code: string | null = null;
  #deaths = 0;

  private constructor(fixture: ContainerFaultFixture) {
    this.fixture = fixture;
  }

  /** Starts with an empty container. */
  static async start(unpack: "bootstrap" | "files"): Promise<WorkspaceModel> {
    const section = { unpack, syncPolicy: "eachTurn" } as const;
    const fixture = await createContainerFaultFixture((_task, items) => model.#playModel(items), {
      section,
    });
    const model = new WorkspaceModel(fixture);
    await model.evaluateWithoutCode();
    return model;
  }

  /** The files by path, as Latin-1. */
  get files(): Files {
    return this.#files;
  }

  /** Applies an operation to the workspace and the model. An operation that fails with a lost container must change nothing. */
  async apply(act: FileOperation): Promise<void> {
    const { filesystem } = this.fixture.section;
    const deaths = this.#deaths;
    const real = await runOperation(filesystem, this.#marks.real, act);
    if (real === "gone") return void expect(this.#deaths).toBeGreaterThan(deaths);
    expect(real).toEqual(await runOperation(this.#model, this.#marks.known, act));
    this.#files = toTexts(await readTree(this.#model));
  }

  /** Evaluates a prompt without code and asserts that no file changes. */
  async evaluateWithoutCode(): Promise<void> {
    this.#code = null;
    await this.#evaluate();
    await this.expectSameFiles();
  }

  /** Evaluates a prompt with code. All changes are applied, or none if a container was lost. */
  async runCode(acts: readonly CodeChange[]): Promise<void> {
    await this.#releaseSnapshots();
    const before = this.#files;
    const { code, after } = planCode(acts, before);
    this.#code = code;
    const deaths = this.#deaths;
    const found = await this.#evaluate();
    if (this.#deaths > deaths) await this.#fetchAgain();
    const is = new Map(Object.entries(readFiles(this.fixture.section.tempDir)));
    const mayBeLost = found === null || this.#deaths > deaths;
    expect(is).toEqual(mayBeLost && hasSameFiles(is, before) ? before : after);
    if (found !== null) expect(found).toContain(`tree:${computeDigest(before)}`);
    await this.#resetFromHost();
  }

  /** Kills the current container. */
  async kill(form: ContainerFault): Promise<void> {
    const id = this.fixture.section.containerId;
    if (id !== null) await this.#kill(form, id);
  }

  /** Kills the container at a later request. */
  killAtRequest({ on, when, nth, fault }: PlannedFault): void {
    this.fixture.relay.injectFault({ on, when, nth, act: (id) => this.#kill(fault, id) });
  }

  /** Asserts that the host's files equal the model. */
  async expectSameFiles(): Promise<void> {
    expect(await this.#readHostTree()).toEqual(await readTree(this.#model));
  }

  /** Cleans up and asserts that the synced files equal the model. */
  async expectSyncedFiles(): Promise<void> {
    const { section } = this.fixture;
    await section.cleanup();
    expect(new Map(Object.entries(readFiles(section.syncedDir ?? "")))).toEqual(this.#files);
  }

  async #kill(form: ContainerFault, id: string): Promise<void> {
    this.#deaths += 1;
    await this.fixture
      .kill(form)(id)
      .catch(() => undefined); // it may already be lost
  }

  /** Returns the output of the code, or `null` if too many containers were lost. */
  async #evaluate(): Promise<string | null> {
    const { fixture } = this;
    const ran = fixture.findEvents("ToolInvoked").length;
    const deaths = this.#deaths;
    try {
      expect(await fixture.evaluate("Continue.")).toBe("Done.");
    } catch (error) {
      if (!isContainerLost(error)) throw error;
      expect(this.#deaths).toBeGreaterThan(deaths);
      return null;
    }
    const [call, ...more] = fixture.findEvents("ToolInvoked").slice(ran);
    const { stdout = "", stderr = "" } = Object(call?.result.value);
    const printed = `${stdout}${stderr}`;
    expect([printed.includes("Traceback"), more], printed).toEqual([false, []]);
    return printed;
  }

  #playModel(items: readonly Readonly<Record<string, unknown>>[]): readonly ModelAction[] {
    const hasRun = items.some(({ type }) => type === "code_interpreter_call");
    return hasRun || this.#code === null ? [{ say: "Done." }] : [{ code: this.#code }];
  }

  /** Retries until the changes of the last turn are fetched. */
  async #fetchAgain(): Promise<void> {
    const { filesystem } = this.fixture.section;
    for (let tries = 0; tries < 5; tries++) {
      if ((await runOperation(filesystem, [], (files) => files.exists("."))) !== "gone") return;
    }
    throw new Error("Containers keep failing");
  }

  /** Releases all snapshots: they cover changes through the file system, not changes by code. */
  async #releaseSnapshots(): Promise<void> {
    const { filesystem } = this.fixture.section;
    for (const mark of this.#marks.real) await filesystem.release(mark);
    this.#marks = { real: [], known: [] };
  }

  /** Copies the host's files to the model, because empty folders are not predicted after code has run. */
  async #resetFromHost(): Promise<void> {
    this.#model = new InMemoryFilesystem();
    for (const [path, bytes] of Object.entries(await this.#readHostTree())) {
      if (bytes === null) await this.#model.mkdir(path);
      else await this.#model.write(path, new Uint8Array(bytes));
    }
    this.#files = toTexts(await readTree(this.#model));
  }

  async #readHostTree(): Promise<Tree> {
    return await readTree(new HostFilesystem(this.fixture.section.tempDir));
  }
}

/** Runs an operation. Returns its result, the code of its error, or `"gone"` if the container was lost. */
async function runOperation(
  filesystem: Filesystem,
  marks: FsSnapshot[],
  act: FileOperation,
): Promise<unknown> {
  try {
    return { result: await act(filesystem, marks) };
  } catch (error) {
    if (error instanceof FilesystemError) return { code: error.code };
    if (isContainerLost(error)) return "gone";
    throw error;
  }
}

function isContainerLost(error: unknown): boolean {
  if (error instanceof ContainerExpiredError) return true;
  return error instanceof Error && error.cause instanceof ContainerExpiredError;
}

function hasSameFiles(one: Files, other: Files): boolean {
  return one.size === other.size && [...one].every(([path, text]) => other.get(path) === text);
}

function toTexts(tree: Tree): Files {
  const files = Object.entries(tree).flatMap(([path, bytes]) =>
    bytes === null ? [] : [[path, Buffer.from(bytes).toString("latin1")] as const],
  );
  return new Map(files);
}

function computeDigest(files: Files): string {
  const digests = [...files].map(
    ([path, text]) =>
      [path, createHash("sha256").update(Buffer.from(text, "latin1")).digest("hex")] as const,
  );
  return digestTree(new Map(digests));
}
