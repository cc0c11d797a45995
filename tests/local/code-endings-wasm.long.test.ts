import { describe, test, vi } from "vitest";
import { wasmSandbox } from "../../src/local/sandbox/wasm/wasm-sandbox.ts";
import { codeEndings, expectEndings } from "../support/local/code-endings.ts";

vi.setConfig({ testTimeout: 120_000 });

const { usable } = await wasmSandbox().probe();

describe.skipIf(!usable)("Code in wasm", () => {
  const sandbox = "wasm";

  test("has the exit code, the traceback and the success of its ending, in every report", async () => {
    await expectEndings(codeEndings, { sandbox });
  });

  test("that runs too long has failed without an exit code, and keeps its variables", async () => {
    const slow = { exitCode: null, status: "failed", stdout: "it took too long" } as const;
    await expectEndings(
      [
        { code: "kept = 1", exitCode: 0 },
        { ...slow, code: "while True: pass" },
        { code: "print(kept)", exitCode: 0, stdout: "1\n" },
      ],
      { sandbox, limits: { runTimeoutMs: 2_000 } },
    );
  });

  test("that does not stop after its timeout has failed without an exit code", async () => {
    const stubborn = "while True:\n  try:\n    while True: pass\n  except BaseException: pass";
    await expectEndings(
      [
        { code: stubborn, exitCode: null, status: "failed", stdout: "lost its variables" },
        { code: "print(1)", exitCode: 0, stdout: "1\n" },
      ],
      { sandbox, limits: { runTimeoutMs: 2_000 } },
    );
  });
});
