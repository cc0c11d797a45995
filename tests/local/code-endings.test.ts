import { describe, expect, test, vi } from "vitest";
import { codeEndings, expectEndings } from "../support/local/code-endings.ts";
import { createWorkspaceFixture, hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

vi.setConfig({ testTimeout: 60_000 });

describe.skipIf(!hasBubblewrap)("Code in bubblewrap", () => {
  const sandbox = "bubblewrap";

  test("has the exit code, the traceback and the success of its ending, in every report", async () => {
    await expectEndings(codeEndings, { sandbox });
  });

  test("that kills its interpreter has failed without an exit code, and the container survives", async () => {
    const killed = { exitCode: null, status: "failed" } as const;
    await expectEndings(
      [
        { code: "open('kept', 'w').write('1')", exitCode: 0 },
        { ...killed, code: "import os\nos._exit(3)", stdout: "exit code 3" },
        { ...killed, code: "import os\nos.kill(os.getpid(), 9)", stdout: "signal 9" },
        { code: "print(open('kept').read())", exitCode: 0, stdout: "1\n" },
      ],
      { sandbox },
    );
  });

  test("that runs too long has failed without an exit code, and keeps its variables", async () => {
    const slow = { exitCode: null, status: "failed", stdout: "it took too long" } as const;
    await expectEndings(
      [
        { code: "kept = 1", exitCode: 0 },
        { ...slow, code: "import time\ntime.sleep(60)" },
        { ...slow, code: "try:\n  time.sleep(60)\nexcept KeyboardInterrupt:\n  pass" },
        { code: "print(kept)", exitCode: 0, stdout: "1\n" },
      ],
      { sandbox, limits: { runTimeoutMs: 400 } },
    );
  });

  test("keeps the files that it changed in a workspace before it raised", async () => {
    const { createSection, run } = await createWorkspaceFixture([
      [{ code: "open('/mnt/data/made.txt', 'w').write('made')\n1/0" }],
      [{ say: "It failed." }],
    ]);
    const section = createSection();
    await run(section);
    expect(await section.filesystem.readText("made.txt")).toBe("made");
  });
});
