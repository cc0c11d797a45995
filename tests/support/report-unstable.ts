import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** More unstable tests than this in one run mean that something is wrong with the change, not with one test. */
const MOST = 3;

/** What these tests guard must hold on the first try: one success of an attack or one lost record is one too many. */
const NEVER = /^tests\/(?:attacks|faults)\/|(?:crash|storm|kill)[^/]*$/;

/** Lists the tests that passed only on their second try (`--retry=1`), and fails the run if that is no exception. */
// biome-ignore lint/style/noDefaultExport: Vitest loads the default export of a reporter.
export default class ReportUnstable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const unstable = modules
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.diagnostic()?.flaky === true)
      .map(describeTest);
    if (unstable.length === 0) return;
    const refused = unstable.length > MOST || unstable.some(({ file }) => NEVER.test(file));
    process.stdout.write(`\n${formatReport(unstable, refused)}\n`);
    if (refused) process.exitCode = 1;
  }
}

function describeTest(test: TestCase): { readonly file: string; readonly text: string } {
  const file = relative(process.cwd(), test.module.moduleId);
  const [error] = test.result().errors ?? [];
  return {
    file,
    text: `${file} › ${test.fullName}\n    first try: ${error?.message ?? "no error"}`,
  };
}

function formatReport(unstable: readonly { readonly text: string }[], refused: boolean): string {
  const lines = unstable.map(({ text }) => `  ${text}`);
  const rule = `At most ${MOST}, and none that tries an attack, a fault or a crash, may be unstable.`;
  return [
    `Unstable: passed only on the second try. Mend them.`,
    ...lines,
    ...(refused ? [rule] : []),
  ].join("\n");
}
