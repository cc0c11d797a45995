import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { surveyFolder } from "./folder-survey.ts";
import { surveyFiles } from "./survey-files.ts";

test("a survey by a thread is as one without", async () => {
  const folder = temporaryTree({ "a/b": "1", c: "2" });
  const survey = await surveyFolder(folder);
  expect(survey).toEqual(surveyFiles(folder));
  expect([...survey.digests.keys()]).toEqual(["a/b", "c"]);
  expect(await surveyFolder(join(folder, "gone"))).toMatchObject({ failed: [{ path: "." }] });
});

test("a survey needs no thread where none lives long enough", async () => {
  const folder = temporaryTree({ "a/b": "1", c: "2" });
  const killed: Worker[] = [];
  const kill = (worker: Worker) => {
    killed.push(worker);
    void worker.terminate();
  };
  process.on("worker", kill);
  onTestFinished(() => void process.off("worker", kill));
  expect([...(await surveyFolder(folder)).digests.keys()]).toEqual(["a/b", "c"]);
  expect(killed).toHaveLength(1);
});
