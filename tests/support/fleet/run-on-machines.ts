import { createHash } from "node:crypto";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "../../../src/claude/workspace/workspace-section.ts";
import type { BlobStore } from "../../../src/fleet/workspace/blob-store.ts";
import { RunFolder, type RunFolderOptions } from "../../../src/fleet/workspace/run-folder.ts";
import { Session } from "../../../src/session/session.ts";
import { MemorySessionStore } from "../memory-session-store.ts";
import { type Tree, temporaryTree } from "../temporary-tree.ts";
import { FileStoringStore } from "./file-storing-store.ts";

/** Returns the SHA-256 of text or bytes, in hexadecimal. */
export const sha256 = (bytes: string | Uint8Array) =>
  createHash("sha256").update(bytes).digest("hex");
const createdAt = "2026-01-01T00:00:00.000Z";
const stamp = { promptName: "p", adapter: "claude", sessionId: "s", createdAt } as const;

/** A blob store in memory that counts its calls. */
export class MemoryBlobs implements BlobStore {
  readonly contents = new Map<string, Uint8Array>();
  readonly calls: string[] = [];
  failure: Error | null = null;

  async has(sha256: string): Promise<boolean> {
    this.#count("has");
    return this.contents.has(sha256);
  }

  async put(sha256: string, bytes: Uint8Array): Promise<void> {
    this.#count("put");
    this.contents.set(sha256, new Uint8Array(bytes));
  }

  async get(sha256: string): Promise<Uint8Array | null> {
    this.#count("get");
    return this.contents.get(sha256) ?? null;
  }

  #count(call: string): void {
    if (this.failure) throw this.failure;
    this.calls.push(call);
  }
}

/** A run whose session and contents any machine can reach. */
export function createRun(mounted: Tree = { "a.txt": "one", "b.txt": "two" }) {
  const records = new MemorySessionStore();
  const blobs = new MemoryBlobs();
  const mount = temporaryTree(mounted);
  /** Opens the run on a machine whose disk has only `folder`. */
  const openOn = async (folder: string, options: Partial<RunFolderOptions> = {}) => {
    const run = new RunFolder({ folder, sessionId: "s", blobs, ...options });
    const session = await Session.openOrCreate(new FileStoringStore(records, run), "s");
    await run.restore(session);
    const createWorkspace = (given: Partial<ClaudeAgentWorkspaceSectionOptions> = {}) => {
      const mounts = [{ hostPath: mount, mountPath: "." }];
      const section = new ClaudeAgentWorkspaceSection({
        ...{ session, mounts, persistDir: folder },
        ...given,
      });
      onTestFinished(async () => void (await section.cleanup()));
      return section;
    };
    const keep = async (section: ClaudeAgentWorkspaceSection, isFlushed = true) => {
      const manifest = await section.workspace.keep();
      if (manifest) session.dispatch({ type: "WorkspaceKept", manifest, ...stamp });
      if (isFlushed) await session.flush();
    };
    return { run, session, createWorkspace, keep };
  };
  return { records, blobs, mount, openOn };
}

/** Returns the path of a run's folder that does not exist yet. */
export const newFolder = () => join(temporaryTree(), "runs", "s");
