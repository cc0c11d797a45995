import { Buffer } from "node:buffer";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SessionStoreError } from "../session/session-store.ts";
import { readCheckpointFile, writeCheckpointFile } from "./checkpoint-file.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";
import { getSessionPaths, type SessionPaths } from "./session-file-name.ts";

let folder: string;
let paths: SessionPaths;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-checkpoint-"));
  paths = getSessionPaths(folder, "s");
});
afterEach(() => rm(folder, { recursive: true }));

test("writeCheckpointFile() replaces the private file and the leftovers of a crash", async () => {
  await writeFile(paths.newCheckpoint, "half of a checkpoint that was never completed");
  await writeCheckpointFile(paths, Buffer.from('{"a":1}\n'));
  await writeCheckpointFile(paths, Buffer.from("{}\n"));
  expect(await readCheckpointFile(paths)).toEqual({});
  expect(await readdir(folder)).toEqual(["s.checkpoint"]);
  expect((await stat(paths.checkpoint)).mode & 0o077).toBe(0);
});

test("writeCheckpointFile() refuses a symlink, and leaves its target unchanged", async () => {
  await writeFile(join(folder, "victim"), "mine");
  await symlink(join(folder, "victim"), paths.newCheckpoint);
  await expect(writeCheckpointFile(paths, Buffer.from("{}\n"))).rejects.toThrow("is a symlink");
  expect(await readFile(join(folder, "victim"), "utf8")).toBe("mine");
});

test.each(["", "[]", '{"a":', "null", "\0"])(
  "readCheckpointFile() refuses %j and names the file to delete",
  async (text) => {
    await writeFile(paths.checkpoint, text);
    await expect(readCheckpointFile(paths)).rejects.toThrow(`its checkpoint ${paths.checkpoint}: `);
    await using store = new JsonlSessionStore(folder);
    const reading = store.readCheckpoint("s");
    await expect(reading).rejects.toThrow(SessionStoreError);
    await expect(reading).rejects.toThrow(
      "Delete that file: the session is then read from its records.",
    );
  },
);

test("readCheckpointFile() names a checkpoint that is a folder, and not the session's file", async () => {
  await mkdir(paths.checkpoint);
  const message = `its checkpoint ${paths.checkpoint} is a folder, not a file`;
  await expect(readCheckpointFile(paths)).rejects.toThrow(message);
});

test("readCheckpointFile() refuses a file of more than 128 MiB", async () => {
  await writeFile(paths.checkpoint, "");
  await truncate(paths.checkpoint, 128 * 1024 ** 2 + 1);
  await expect(readCheckpointFile(paths)).rejects.toThrow("has 134217729 bytes");
  const other = getSessionPaths(join(folder, "none"), "s");
  expect(await readCheckpointFile(other)).toBe(null);
});
