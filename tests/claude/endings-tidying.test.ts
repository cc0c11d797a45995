import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processesOfRun } from "../../src/claude/process/run-processes.ts";
import { bash, endingStage } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

test.skipIf(sdkMissing)(
  "what ended a run is thrown though the run could not be tidied up, of which somebody is told",
  { timeout: SDK_TIMEOUT },
  async () => {
    const warnings: string[] = [];
    const listen = ({ message }: Error) => void warnings.push(message);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const stage = await endingStage([{ content: [bash("sleep 600")] }], {
      adapter: { rollBackFailedNativeTools: true },
    });
    const given = new AbortController();
    const failure = stage.failure({ signal: given.signal });
    await stage.commandBegun();
    rmSync(dirname(stage.section.tempDir), { recursive: true });
    const reason = new Error("I changed my mind");
    given.abort(reason);
    expect(await failure).toBe(reason);
    await expect.poll(() => warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^The conversation failed to close: ENOENT/);
    await stage.expectNothingLeft();
  },
);

test("a process that has got the number of one that is gone is nobody's to end", async () => {
  const stat = (pid: number, group: number, startedAt: number) =>
    `${pid} (sh) S 1 ${group} ${"0 ".repeat(16)}${startedAt} 0 0\n`;
  const proc = temporaryTree({
    "100/stat": stat(100, 100, 9),
    "100/environ": "HOME=/another",
    "101/stat": stat(101, 100, 9),
    "101/environ": "",
    "102/stat": stat(102, 102, 5),
    "102/environ": "WINK_RUN=r-1",
  });
  const found = async (isOver: boolean) =>
    (await processesOfRun({ runId: "r-1", root: 100, isOver }, [], { proc })).map(({ pid }) => pid);
  expect(await found(true)).toEqual([102]);
  expect(await found(false)).toEqual([100, 101, 102]);
});
