import { describe, test, vi } from "vitest";
import { isBubblewrapUsable } from "../support/attacks/bubblewrap-target.ts";
import { listEngines } from "../support/attacks/docker-target.ts";
import { codeEndings, expectEndings } from "../support/local/code-endings.ts";
import { testSandboxContract } from "../support/local/sandbox-contract.ts";

vi.setConfig({ testTimeout: 60_000 });
const isUsable = await isBubblewrapUsable();
const engines = (await listEngines()).filter(({ as }) => as === "root" || process.getuid?.() !== 0);

describe.skipIf(!isUsable)("A container of bubblewrap", () => testSandboxContract());

describe.each(engines)("A container of $engine", ({ sandbox }) => {
  testSandboxContract({ sandbox });

  test("reports each ending of code to the model as bubblewrap does", async () => {
    await expectEndings(codeEndings, { sandbox: sandbox.create() });
  });
});
