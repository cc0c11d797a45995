import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { removeTreeJob } from "../remove-tree.ts";
import { runInThread } from "./run-in-thread.ts";
import { threadJob } from "./thread-job.ts";

const words = { job: "removes a folder", remedy: "remove it again" };

test("runInThread() returns the result of the job", async () => {
  const folder = temporaryTree({ "a.txt": "a" });
  expect(await runInThread(removeTreeJob, { type: "remove", folder }, words)).toBe(true);
  expect(existsSync(folder)).toBe(false);
});

test("runInThread() throws the job's error with its class", async () => {
  const folder = `${temporaryTree({ "a.txt": "a" })}/a.txt`;
  const removing = runInThread(removeTreeJob, { type: "remove", folder }, words);
  await expect(removing).rejects.toBeInstanceOf(FilesystemError);
});

test("runInThread() names the function that a module does not export", async () => {
  const missing = threadJob(removeTreeJob.module, function removeNothing() {});
  const running = runInThread(missing, undefined, words);
  await expect(running).rejects.toThrow(/remove-tree\.ts does not export removeNothing$/);
});

test("runInThread() throws the signal's reason and stops the thread", async () => {
  const controller = new AbortController();
  const folder = temporaryTree();
  const task = { type: "empty", folder } as const;
  const running = runInThread(removeTreeJob, task, { ...words, signal: controller.signal });
  controller.abort("enough");
  await expect(running).rejects.toBe("enough");
});
