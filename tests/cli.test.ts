import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

function wink(...args: readonly string[]) {
  return spawnSync(process.execPath, ["src/cli/main.ts", ...args], {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: undefined },
  });
}

test("wink demo tells of calls rolled back in the session and on disk, a patch, a hosted call and a typed answer", () => {
  const { status, stdout } = wink("demo");
  expect(status).toBe(0);
  expect(stdout).toContain("rolled back: the vents are at 20 % again");
  expect(stdout).toMatch(/✓ web_search .* ran at scripted/);
  expect(stdout).toContain("rolled back on disk: night-log.md is as it was");
  expect(stdout).toContain("Changed night-log.md.");
  expect(stdout).toContain("ventPercent: 60");
  expect(stdout).not.toContain("\u001b[");
});

test("wink demo --json prints one document with every event", () => {
  const { status, stdout } = wink("demo", "--json");
  expect(status).toBe(0);
  const { output, log, events } = JSON.parse(stdout);
  expect(log).toBe("# Night log\n\n- vents at 60 %\n- nobody woken\n");
  expect(output).toMatchObject({ ventPercent: 60, wakeSomebody: false });
  const failed = events.filter(
    (event: { result?: { success: boolean } }) => event.result?.success === false,
  );
  expect(failed.map(({ name }: { name: string }) => name)).toEqual(["set_vent", "report"]);
});

test.each([
  [["--version"], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
  [["--help"], 0, /Commands:[\s\S]*demo/, /^$/],
  [["demo", "--help"], 0, /Examples:/, /^$/],
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
