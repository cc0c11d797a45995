import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listRunProcesses } from "../../src/claude/process/list-run-processes.ts";
import { createEndingFixture, useBash } from "../support/claude/exit-fixture.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

test.skipIf(sdkMissing)(
  "a failed cleanup is reported as a warning, and the evaluation throws its original error",
  { timeout: SDK_TIMEOUT },
  async () => {
    const warnings: string[] = [];
    const listen = ({ message }: Error) => void warnings.push(message);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const fixture = await createEndingFixture([{ content: [useBash("sleep 600")] }], {
      adapter: { rollBackFailedNativeTools: true },
    });
    const controller = new AbortController();
    const failure = fixture.runToError({ signal: controller.signal });
    await fixture.waitForCommand();
    rmSync(dirname(fixture.section.tempDir), { recursive: true });
    const reason = new Error("I changed my mind");
    controller.abort(reason);
    expect(await failure).toBe(reason);
    await expect.poll(() => warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^The conversation failed to close: ENOENT/);
    await fixture.expectNothingLeft();
  },
);

test("listRunProcesses() ignores another process that reuses the ended root's pid", async () => {
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
  const listPids = async (hasEnded: boolean) =>
    (await listRunProcesses({ runId: "r-1", root: 100, hasEnded }, [], { proc })).map(
      ({ pid }) => pid,
    );
  expect(await listPids(true)).toEqual([102]);
  expect(await listPids(false)).toEqual([100, 101, 102]);
});
