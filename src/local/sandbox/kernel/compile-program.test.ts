import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compileSandboxProgram } from "./compile-program.ts";
import { SANDBOX_PROGRAM } from "./sandbox-program.ts";

describe("compileSandboxProgram()", () => {
  test.skipIf(!existsSync("/usr/bin/python3"))(
    "returns a program that loads the compiled one, once per Python",
    async () => {
      const program = await compileSandboxProgram("/usr/bin/python3");
      expect(program).toMatch(/^import binascii, marshal, zlib\nexec\(/);
      // Linux passes arguments of at most 128 KiB.
      expect(program.length).toBeLessThan(120_000);
      expect(compileSandboxProgram("/usr/bin/python3")).toBe(
        compileSandboxProgram("/usr/bin/python3"),
      );
    },
  );

  test.each(["/missing/python3", "/bin/false"])(
    "returns the source if %s fails",
    async (python) => {
      expect(await compileSandboxProgram(python)).toBe(SANDBOX_PROGRAM);
    },
  );
});
