import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { digestFolderInThread } from "./digest-folder-in-thread.ts";
import { digestFolder } from "./folder-digest.ts";

test("the digest from a thread equals digestFolder()", async () => {
  const folder = temporaryTree({ "a/b": "1", c: "2" });
  const result = await digestFolderInThread(folder);
  expect(result).toEqual(digestFolder(folder));
  expect([...result.files.keys()]).toEqual(["a/b", "c"]);
  expect(await digestFolderInThread(join(folder, "gone"))).toMatchObject({
    failed: [{ path: "." }],
  });
});

test("the digest is computed without a thread if the thread is killed", async () => {
  const folder = temporaryTree({ "a/b": "1", c: "2" });
  const killed: Worker[] = [];
  const kill = (worker: Worker) => {
    killed.push(worker);
    void worker.terminate();
  };
  process.on("worker", kill);
  onTestFinished(() => void process.off("worker", kill));
  expect([...(await digestFolderInThread(folder)).files.keys()]).toEqual(["a/b", "c"]);
  expect(killed).toHaveLength(1);
});
