import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { demo } from "../src/cli/demo/demo.ts";
import { bubblewrapSandbox } from "../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts";
import { captureDemo } from "./support/capture-demo.ts";

function wink(...args: readonly string[]) {
  return spawnSync(process.execPath, ["src/cli/main.ts", ...args], {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: undefined },
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

// Without bubblewrap, each test starts Python in WebAssembly twice, which is slow.
describe("wink demo", () => {
  test("prints a mounted repository, executed code, a cited page, rolled-back calls and patches", () => {
    const { status, stdout, stderr } = wink("demo");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/Sandbox: (bubblewrap|wasm) \(/);
    expect(stdout).toMatch(/Mounted as greenhouse: 5 files, \d+ bytes\n {2}README.md\n/);
    expect(stdout).toContain("  withheld: gateway.pem\n");
    expect(stdout).toMatch(/✓ web_search .* ran at the provider/);
    expect(stdout).toContain("    5 readings, 31.5 °C now, 28 °C at most\n");
    expect(stdout).toContain(
      "    3 of 5 times vents.py requests an impossible opening: [-140, -80, 140]\n",
    );
    expect(stdout).toContain("rolled back: the vents are at 20 % again");
    expect(stdout).toContain("rolled back in the workspace: greenhouse/night-log.md is restored");
    expect(stdout).toContain('Updated "greenhouse/vents.py"');
    expect(stdout).toContain("Leiden tonight https://weather.example/leiden.html");
    expect(stdout).toContain("  │ 23:00,100 %,24.5 °C\n");
    expect(stdout).toContain("ventPercent: 100");
    expect(stdout).not.toContain("\u001b[");
  });

  test("loses its container halfway, continues in another, and syncs the files", async () => {
    const text = await captureDemo({ json: false });
    const [, first] = /the workspace runs in (cntr_\w+)/.exec(text) ?? [];
    const [, lost, by] =
      /✗ container (cntr_\w+) was lost: .*Container is expired[\s\S]*?✓ replaced by (cntr_\w+), with 5 files restored\n {4}lost: the memory of running code\n/.exec(
        text,
      ) ?? [];
    expect(lost).toBe(first);
    expect(by).not.toBe(first);
    expect(text).toContain("    percents is lost with the old container\n");
    expect(text).toContain("    0 of 5 times vents.py requests an impossible opening: []\n");
    expect(text).toContain("    - vents at 100 %\n    24.5 °C expected at 02:00\n");
    expect(text).toMatch(
      /Synced files\n {2}added greenhouse\/vent-plan.csv\n {2}changed greenhouse\/night-log.md\n {2}changed greenhouse\/vents.py\n {2}the mounted examples\/greenhouse is unchanged\n {2}the temporary copy in \S+ is deleted\n/,
    );
  });

  test("--json prints one document with every event, and progress on a terminal", async () => {
    const shown: string[] = [];
    const terminal = { isTTY: true, write: (text: string) => shown.push(text) };
    const document = JSON.parse(await captureDemo({ json: true, terminal }));
    expect(shown).toEqual(["\r\u001b[KRunning the demo …", "\r\u001b[K"]);
    const { output, mounts, events, citations, files, sandbox, vents, synced } = document;
    expect(files["greenhouse/night-log.md"]).toBe(
      "# Night log\n\n- vents at 100 %\n- gardener not called\n",
    );
    expect(output).toMatchObject({ ventPercent: 100, wakeGardener: false });
    expect(vents).toEqual({ percent: 100 });
    expect(sandbox.name).toMatch(/^(bubblewrap|wasm)$/);
    expect(mounts).toMatchObject([{ mountPath: "greenhouse", withheld: ["gateway.pem"] }]);
    expect(citations).toMatchObject([
      { type: "url", url: "https://weather.example/leiden.html", title: "Leiden tonight" },
      { type: "containerFile", filename: "vent-plan.csv" },
    ]);
    expect(synced).toMatchObject({ added: ["greenhouse/vent-plan.csv"], deleted: [], failed: [] });
    expect(files["greenhouse/vent-plan.csv"]).toMatch(
      /^time,vents,expected\n23:00,100 %,24\.5 °C\n/,
    );
    const types = events.map(({ type }: { type: string }) => type);
    for (const type of ["ContainerReplaced", "HistoryRepaired", "WorkspaceSynced"]) {
      expect(types.filter((one: string) => one === type)).toEqual([type]);
    }
    const failed = events.filter(
      (event: { result?: { success: boolean } }) => event.result?.success === false,
    );
    expect(failed.map(({ name }: { name: string }) => name)).toEqual(["set_vent", "report"]);
  });

  test("skips the Python steps without a sandbox and explains how to install one", async () => {
    const reason = "bwrap is not installed: apt-get install bubblewrap";
    const probe = async () => ({ usable: false, reason });
    const candidates = [{ ...bubblewrapSandbox(), probe }];
    const text = await captureDemo({ json: false, candidates });
    expect(text).toContain("so the Python steps are skipped. To run them, install one:\n");
    expect(text).toContain(`  bubblewrap: ${reason}\n`);
    expect(text).not.toContain("code_interpreter ran");
    expect(text).toMatch(/✓ web_search .* ran at the provider/);
    expect(text).toContain("rolled back: the vents are at 20 % again");
    expect(text).toMatch(/✓ replaced by cntr_\w+, with 5 files restored\n/);
    expect(text).toContain("ventPercent: 100");
    expect(text).toMatch(
      /Synced files\n {2}changed greenhouse\/night-log.md\n {2}changed greenhouse\/vents.py\n/,
    );
    const document = JSON.parse(await captureDemo({ json: true, candidates }));
    expect(document.sandbox).toEqual({ name: null, reason: `bubblewrap: ${reason}` });
  });

  test("cleans up when the reader of its output closes the pipe", () => {
    const temporary = mkdtempSync(join(tmpdir(), "wink-test-"));
    try {
      const env = { ...process.env, TMPDIR: temporary, FORCE_COLOR: undefined };
      const command = `"${process.execPath}" src/cli/main.ts demo | head -n 30`;
      const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8", env });
      expect({ lines: stdout.trim().split("\n").length, stderr }).toEqual({
        lines: 30,
        stderr: "",
      });
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });

  test("exits with 130 on a signal after cleanup, without further output", async () => {
    const codes: number[] = [];
    const host = Object.assign(new EventEmitter(), { exit: (code: number) => codes.push(code) });
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => {
      lines.push(line);
      if (line === "Turn 2") host.emit("SIGINT");
    });
    await demo({ json: false }, host);
    await vi.waitFor(() => expect(codes).toEqual([130]), 30_000);
    expect(lines).not.toContain("Turn 4");
    expect(host.eventNames()).toEqual([]);
  });
});

describe("wink mount as a command", () => {
  test("prints only the plan of a folder", () => {
    const { status, stdout, stderr } = wink("mount", "examples/greenhouse", "--exclude", "*.csv");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^greenhouse: 4 files, [\d,]+ bytes from \/.*\/examples\/greenhouse\n/);
    expect(stdout).toContain("  gateway.pem has a name that is common for key files\n");
    expect(stdout).toContain('  1 file: --exclude "*.csv"\n');
    expect(stdout).not.toContain("\u001b[");
  });

  test("accepts repeated options and prints JSON", () => {
    const globs = ["--include", "*.py", "--include", "*.pem", "--exclude", "x", "--exclude", "y"];
    const secrets = ["--allow-secret", "a", "--allow-secret", "gateway.pem"];
    const { stdout } = wink("mount", "examples/greenhouse", ...globs, ...secrets, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      files: 2,
      entries: [{ path: "gateway.pem" }, { path: "vents.py" }],
      withheld: [],
    });
  });
});

test.each([
  [["--version"], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  [["--help"], 0, /Commands:[\s\S]*demo[\s\S]*serve/, /^$/],
  [["demo", "--help"], 0, /Examples:/, /^$/],
  [["serve", "--help"], 0, /Examples:/, /^$/],
  [["mount", "--help"], 0, /Examples:/, /^$/],
  [["init", "--help"], 0, /Examples:/, /^$/],
  [["init", "package.json"], 1, /^$/, /^error: FOLDER must be a folder, or the path of a new one/],
  [["completion", "--help"], 0, /Examples:/, /^$/],
  [["completion", "bash"], 0, /^# Completion of wink[\s\S]*\ncomplete -F _wink wink /, /^$/],
  [["completion", "csh"], 2, /^$/, /Allowed choices are bash, zsh, fish/],
  [["sessions", "--help"], 0, /Examples:[\s\S]*PGPASSWORD/, /^$/],
  [["sessions", "ls"], 2, /^$/, /--store is missing[\s\S]*\(run wink sessions ls --help /],
  [["sessions", "ls", "--store", "docs", "--json"], 0, /^\[\]\n$/, /^$/],
  [["sessions", "show", "a", "--store", "docs"], 1, /^$/, /^error: The store has no session "a"\./],
  [["mount"], 2, /^$/, /missing required argument 'path'/],
  [
    ["mount", "src", "--max-bytes", "1.5"],
    2,
    /^$/,
    /'1\.5' is invalid\. Use an integer of 0 or more/,
  ],
  [
    ["mount", "src", "--exclud", "a"],
    2,
    /^$/,
    /unknown option '--exclud'[\s\S]*Did you mean --exclude/,
  ],
  [["mount", "nowhere"], 1, /^$/, /^error: ENOENT: "nowhere" does not exist. Set PATH to/],
  [["mount", "src", "--max-bytes", "9"], 1, /^$/, /^error: PATH "src" is over/],
  [[], 2, /^$/, /Usage: wink/],
  [["dmeo"], 2, /^$/, /unknown command 'dmeo'[\s\S]*Did you mean demo[\s\S]*\(run wink --help /],
  [["demo", "--jsno"], 2, /^$/, /'--jsno'[\s\S]*Did you mean --json[\s\S]*\(run wink demo --help /],
])("wink %j exits with %i", (args, code, out, err) => {
  const { status, stdout, stderr } = wink(...args);
  expect({ status, stdout, stderr }).toEqual({
    status: code,
    stdout: expect.stringMatching(out),
    stderr: expect.stringMatching(err),
  });
});
