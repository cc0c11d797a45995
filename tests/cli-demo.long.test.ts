import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { captureDemo } from "./support/capture-demo.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("wink demo", () => {
  test("prints the same with Python in WebAssembly only", async () => {
    const text = await captureDemo({ json: false, sandbox: "wasm" });
    expect(text).toContain("Sandbox: wasm (wasm: it is installed");
    expect(text).toContain("5 readings, 31.5 °C now, 28 °C at most");
    expect(text).toContain("    percents is lost with the old container\n");
    expect(text).toContain("  │ 23:00,100 %,24.5 °C");
  });

  // Each text marks a different state: nothing created, a workspace, a lost container.
  test.each(["A greenhouse", "Turn 1", "Turn 3", "replaced by"])(
    "leaves no folder behind when stopped at %j",
    async (moment) => {
      const temporary = mkdtempSync(join(tmpdir(), "wink-test-"));
      const env = { ...process.env, TMPDIR: temporary };
      try {
        const child = spawn(process.execPath, ["src/cli/main.ts", "demo"], { env });
        let [told, errors] = ["", ""];
        child.stderr.on("data", (bytes) => {
          errors += bytes;
        });
        child.stdout.on("data", (bytes) => {
          told += bytes;
          if (!told.includes(moment) || child.killed) return;
          expect(readdirSync(temporary)).not.toEqual([]);
          child.kill("SIGINT");
        });
        expect([...(await once(child, "exit")), errors]).toEqual([130, null, ""]);
        expect(readdirSync(temporary)).toEqual([]);
      } finally {
        rmSync(temporary, { recursive: true, force: true });
      }
    },
  );

  test("leaves no folder behind at its end, or when its output is closed early", async () => {
    const temporary = mkdtempSync(join(tmpdir(), "wink-test-"));
    const env = { ...process.env, TMPDIR: temporary };
    try {
      const child = spawn(process.execPath, ["src/cli/main.ts", "demo"], { env });
      child.stderr.setEncoding("utf8");
      child.stdout.once("data", () => child.stdout.destroy());
      const [errors, ended] = await Promise.all([child.stderr.toArray(), once(child, "exit")]);
      expect([...ended, ...errors]).toEqual([0, null]);
      expect(readdirSync(temporary)).toEqual([]);
      expect(spawnSync(process.execPath, ["src/cli/main.ts", "demo"], { env }).status).toBe(0);
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
});
