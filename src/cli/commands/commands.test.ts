import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toExitCode } from "../to-exit-code.ts";
import { createMountCommand } from "./create-mount-command.ts";
import { createRunCommand } from "./create-run-command.ts";
import { createServeCommand } from "./create-serve-command.ts";

const { serve, runProgram } = vi.hoisted(() => ({ serve: vi.fn(), runProgram: vi.fn() }));
vi.mock("../serve.ts", () => ({ serve }));
vi.mock("../run-program.ts", () => ({ runProgram }));

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-test-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});

const commands: Readonly<Record<string, () => Command>> = {
  mount: createMountCommand,
  run: createRunCommand,
  serve: createServeCommand,
};

/** Runs a command in this process. Returns its output and its exit code. */
async function run(name: string, ...args: readonly string[]) {
  let [out, err] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
  vi.spyOn(console, "log").mockImplementation((text) => {
    out += `${text}\n`;
  });
  vi.spyOn(console, "error").mockImplementation((text) => {
    err += `${text}\n`;
  });
  try {
    await commands[name]?.().exitOverride().parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = toExitCode(error);
  }
  const { exitCode = 0 } = process;
  process.exitCode = undefined;
  return { out, err, exitCode };
}

describe("the commands of wink", () => {
  test.each(["mount", "run", "serve"])("%s --help has examples and is a success", async (name) => {
    const { out, exitCode } = await run(name, "--help");
    expect(out).toContain(`Examples:\n  wink ${name}`);
    expect(exitCode).toBe(0);
  });

  test.each([
    ["mount", [], "missing required argument 'path'"],
    ["mount", [".", "--max-bytes", "-1"], "Use an integer of 0 or more."],
    ["mount", [".", "--max-bytes", "9007199254740993"], "Use an integer of 0 or more."],
    ["run", [], "missing required argument 'program'"],
    ["run", ["--upstream", "http://127.0.0.1:1", "agent.mts"], "must be used together"],
    ["serve", ["--port", "65536"], "Use an integer from 0 to 65535."],
    ["serve", ["--port", "http"], "Use an integer from 0 to 65535."],
    ["serve", ["--upstream", "http://127.0.0.1:1"], "must be used together"],
    ["serve", ["--upstream-model", "m"], "must be used together"],
    ["serve", ["--upstream-key", "k"], "--upstream-key must be used together with --upstream"],
  ])("%s exits with 2 for %j", async (name, args, problem) => {
    const { err, exitCode } = await run(name, ...args);
    expect(err).toContain(problem);
    expect(exitCode).toBe(2);
    expect(serve).not.toHaveBeenCalled();
  });

  test("mount passes its options on and prints the plan", async () => {
    for (const name of ["a.txt", "b.txt", "c.md"]) writeFileSync(join(folder, name), "one");
    const globs = ["--include", "a.*", "--include", "b.*", "--exclude", "b.txt"];
    const { out, exitCode } = await run("mount", folder, ...globs, "--json", "--gitignore");
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ files: 1, bytes: 3 });
    expect((await run("mount", folder, "--follow-symlinks")).out).toContain("3 files");
  });

  test("exits with 1 for a mount that is rejected, and prints the reason", async () => {
    writeFileSync(join(folder, "a.txt"), "one");
    const { err, exitCode } = await run("mount", folder, "--max-bytes", "2");
    expect({ err, exitCode }).toEqual({
      err: expect.stringMatching(/^error: .*3/),
      exitCode: 1,
    });
  });

  test("exits with 1 for an unexpected error, and prints it", async () => {
    serve.mockRejectedValueOnce(new TypeError("broken"));
    const { err, exitCode } = await run("serve");
    const hint = "(this is a bug in wink; run the command again with --debug to see where)";
    expect({ err, exitCode }).toEqual({ err: `error: broken\n${hint}\n`, exitCode: 1 });
  });

  test("serve uses an echo on port 8484 by default", async () => {
    vi.stubEnv("WINK_SANDBOX_IMAGE", undefined); // set where tests run with container engines
    await run("serve");
    expect(serve).toHaveBeenLastCalledWith({
      port: 8484,
      host: "127.0.0.1",
      sandbox: "auto",
      json: false,
      quiet: false,
      model: { script: undefined },
    });
  });

  test("run passes flags after the program to the program, and returns its exit code", async () => {
    vi.stubEnv("WINK_SANDBOX_IMAGE", undefined);
    runProgram.mockResolvedValueOnce(7);
    const flags = ["--model", "turns.json", "--requests", "agent.mts", "--json", "--model", "x"];
    const { exitCode } = await run("run", ...flags);
    expect(exitCode).toBe(7);
    expect(runProgram).toHaveBeenLastCalledWith({
      program: "agent.mts",
      args: ["--json", "--model", "x"],
      provider: { sandbox: "auto", model: { script: "turns.json" } },
      json: false,
      requests: true,
    });
  });

  test("serve takes a script, or a model server with its key from the environment", async () => {
    await run("serve", "--model", "turns.json", "--port", "0", "--json", "--quiet");
    expect(serve).toHaveBeenLastCalledWith(
      expect.objectContaining({
        port: 0,
        json: true,
        quiet: true,
        model: { script: "turns.json" },
      }),
    );
    vi.stubEnv("WINK_UPSTREAM_KEY", "secret");
    const baseURL = "http://127.0.0.1:1/v1";
    await run("serve", "--upstream", baseURL, "--upstream-model", "m");
    const upstream = { baseURL, model: "m", apiKey: "secret" };
    expect(serve).toHaveBeenLastCalledWith(expect.objectContaining({ model: { upstream } }));
    await run("serve"); // the key in the environment alone is not a mistake
    expect(serve).toHaveBeenLastCalledWith(
      expect.objectContaining({ model: { script: undefined } }),
    );
  });
});
