import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { demo } from "../src/cli/demo.ts";

function wink(...args: readonly string[]) {
  return spawnSync(process.execPath, ["src/cli/main.ts", ...args], {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: undefined },
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** What the demo prints when it runs in this process. */
async function shown(options: Parameters<typeof demo>[0]): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    lines.push(line);
  });
  await demo(options);
  return lines.join("\n");
}

// Where bubblewrap is missing, each starts Python in WebAssembly, which takes some seconds.
describe("wink demo", { timeout: 20_000 }, () => {
  test("tells of real code, a cited page, rolled-back calls, a patch, a made file and a typed answer", () => {
    const { status, stdout, stderr } = wink("demo");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/The sandbox is (bubblewrap|wasm) \(/);
    expect(stdout).toMatch(/✓ web_search .* ran at the provider/);
    expect(stdout).toContain("    5 readings: 31.5 °C now, rising by 1.75 °C an hour\n");
    expect(stdout).toContain("rolled back: the vents are at 20 % again");
    expect(stdout).toContain("rolled back on disk: night-log.md is as it was");
    expect(stdout).toContain('Updated "night-log.md"');
    expect(stdout).toContain("Leiden tonight https://weather.example/leiden.html");
    expect(stdout).toContain("  │ 02:00,60 %,19.8 °C\n");
    expect(stdout).toContain("ventPercent: 60");
    expect(stdout).not.toContain("\u001b[");
  });

  test("--json prints one document with every event", async () => {
    const document = JSON.parse(await shown({ json: true }));
    const { output, log, events, citations, files, sandbox, vents } = document;
    expect(log).toBe("# Night log\n\n- vents at 60 %\n- nobody woken\n");
    expect(output).toMatchObject({ ventPercent: 60, wakeSomebody: false });
    expect(vents).toEqual({ percent: 60 });
    expect(sandbox.name).toMatch(/^(bubblewrap|wasm)$/);
    expect(citations).toMatchObject([
      { type: "url", url: "https://weather.example/leiden.html", title: "Leiden tonight" },
      { type: "containerFile", filename: "vent-plan.csv" },
    ]);
    expect(files["vent-plan.csv"]).toMatch(/^time,vents,expected\n23:00,60 %,27\.3 °C\n/);
    const failed = events.filter(
      (event: { result?: { success: boolean } }) => event.result?.success === false,
    );
    expect(failed.map(({ name }: { name: string }) => name)).toEqual(["set_vent", "report"]);
  });

  test("tells the same where there is only Python in WebAssembly", async () => {
    const text = await shown({ json: false, sandbox: "wasm" });
    expect(text).toContain("The sandbox is wasm (wasm: it is installed");
    expect(text).toContain("5 readings: 31.5 °C now, rising by 1.75 °C an hour");
    expect(text).toContain("  │ 02:00,60 %,19.8 °C");
  });

  test("leaves no folder behind, also when it is stopped midway", async () => {
    const temporary = mkdtempSync(join(tmpdir(), "wink-test-"));
    const env = { ...process.env, TMPDIR: temporary };
    try {
      const child = spawn(process.execPath, ["src/cli/main.ts", "demo"], { env });
      await once(child.stdout, "data");
      expect(readdirSync(temporary)).not.toEqual([]);
      child.kill("SIGINT");
      expect(await once(child, "exit")).toEqual([130, null]);
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
});

test.each([
  [["--version"], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  [["--help"], 0, /Commands:[\s\S]*demo[\s\S]*serve/, /^$/],
  [["demo", "--help"], 0, /Examples:/, /^$/],
  [["serve", "--help"], 0, /Examples:/, /^$/],
  [[], 2, /^$/, /Usage: wink/],
  [["dmeo"], 2, /^$/, /unknown command 'dmeo'[\s\S]*Did you mean demo/],
  [["demo", "--jsno"], 2, /^$/, /unknown option '--jsno'[\s\S]*Did you mean --json/],
])("wink %j ends with %i", (args, code, out, err) => {
  const { status, stdout, stderr } = wink(...args);
  expect({ status, stdout, stderr }).toEqual({
    status: code,
    stdout: expect.stringMatching(out),
    stderr: expect.stringMatching(err),
  });
});
