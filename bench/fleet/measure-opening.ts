import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { ClaudeAgentWorkspaceSection } from "../../src/claude/index.ts";
import { closeFleet, openFleet } from "../../src/fleet/open-fleet.ts";
import { AttemptSessionStore } from "../../src/fleet/worker/attempt-session-store.ts";
import { PostgresBlobStore } from "../../src/fleet/workspace/postgres-blob-store.ts";
import { RunFolder } from "../../src/fleet/workspace/run-folder.ts";
import { defineSlice, Session } from "../../src/index.ts";
import { median } from "../median.ts";

const RECORDS = 10_000;
/** Only events that a slice reduces are stored. */
const notes = defineSlice<number>("bench.notes", {
  initial: 0,
  on: { Noted: (count: number) => count + 1 } as never,
});
const FILES = 1_000;
const FILE_BYTES = 10_000;

/** Returns the milliseconds for opening a session of 10,000 records in a fleet's tables, without its checkpoint. */
export async function measureOpening(postgres: string, schema: string): Promise<number> {
  const parts = await openFleet({ postgres, schema });
  const session = new Session({ store: parts.store, id: "long" }).register(notes);
  for (let n = 0; n < RECORDS; n++) {
    session.dispatch({ type: "Noted", note: `${n} ${"x".repeat(500)}` } as never);
    if (n % 500 === 0) await session.flush();
  }
  await session.close();
  await parts.database.query(`delete from ${schema}.checkpoint`);
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    const opened = await Session.open(parts.store, "long", [notes]);
    times.push(performance.now() - start);
    await opened.close();
    await parts.database.query(`delete from ${schema}.checkpoint`);
  }
  await closeFleet(parts);
  return median(times);
}

/** Returns the milliseconds for restoring 1,000 files of a run on a machine that has none of them. */
export async function measureRestoring(postgres: string, schema: string): Promise<number> {
  const disk = await mkdtemp(join(tmpdir(), "wink-bench-files-"));
  const parts = await openFleet({ postgres, schema });
  const openOn = async (name: string) => {
    const blobs = new PostgresBlobStore({ sql: parts.database, schema, sessionId: "files" });
    const folder = new RunFolder({ folder: join(disk, name), sessionId: "files", blobs });
    const claim = await parts.store.claim("files");
    const store = new AttemptSessionStore({ store: parts.store, claim, files: folder });
    const session = await Session.openOrCreate(store, "files");
    await folder.restore(session);
    const mounts = name === "first" ? [{ hostPath: join(disk, "mount"), mountPath: "." }] : [];
    const section = new ClaudeAgentWorkspaceSection({
      session,
      mounts,
      persistDir: folder.folder,
      allowedHostRoots: [disk],
    });
    await section.ready();
    return { session, section, claim };
  };
  await writeFiles(join(disk, "mount"));
  const first = await openOn("first");
  const manifest = await first.section.workspace.keep();
  const createdAt = "2026-01-01T00:00:00.000Z";
  const stamp = { promptName: "p", adapter: "claude", sessionId: "files", createdAt } as const;
  if (!manifest) throw new Error("no files were kept");
  first.session.dispatch({ type: "WorkspaceKept", manifest, ...stamp });
  await first.session.close();
  await first.claim.release();
  const start = performance.now();
  const second = await openOn("second");
  const elapsed = performance.now() - start;
  const { files } = await second.section.diff();
  if (files.length > 0) throw new Error(`${files.length} files were not restored`);
  await second.section.cleanup();
  await first.section.cleanup();
  await second.session.close();
  await closeFleet(parts);
  await rm(disk, { recursive: true });
  return elapsed;
}

async function writeFiles(folder: string): Promise<void> {
  await mkdir(folder);
  for (let n = 0; n < FILES; n++) {
    await writeFile(join(folder, `file-${n}.txt`), `${n} `.repeat(FILE_BYTES).slice(0, FILE_BYTES));
  }
}
