import { expect, test } from "vitest";
import { quickSandbox } from "./quick-sandbox.ts";

test("Python in WebAssembly is chosen without a trial run, and tells so", async () => {
  const { sandbox, reason } = await quickSandbox("wasm");
  expect(sandbox.name).toBe("wasm");
  expect(reason).toBe("wasm: it is installed, and is tried when code first runs");
  expect(await sandbox.probe()).toEqual({ usable: true, reason });
});

test("the strongest there is has had its trial run, or is told to be missing", async () => {
  const { sandbox, reason } = await quickSandbox("auto");
  if (sandbox.name === "bubblewrap") expect(reason).toBe("bubblewrap: a trial run succeeded");
  else expect(reason).toMatch(/^bubblewrap: .+; wasm: it is installed/);
});
