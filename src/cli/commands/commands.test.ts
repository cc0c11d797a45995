import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toExitCode } from "../to-exit-code.ts";
import { createInspectCommand } from "./create-inspect-command.ts";
import { createMountCommand } from "./create-mount-command.ts";
import { createReplayCommand } from "./create-replay-command.ts";
import { createRunCommand } from "./create-run-command.ts";
import { createServeCommand } from "./create-serve-command.ts";

const { serve, inspect } = vi.hoisted(() => ({
  serve: vi.fn(),
  inspect: vi.fn(),
}));
vi.mock("../inspect.ts", () => ({ inspect }));
vi.mock("../serve.ts", () => ({ serve }));
const [runProgram, runAgent] = [vi.fn(), vi.fn()];

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
  inspect: createInspectCommand,
  mount: createMountCommand,
  replay: createReplayCommand,
  run: () => createRunCommand({ program: runProgram, agent: runAgent }),
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
  test.each(["inspect", "mount", "replay", "run", "serve"])(
    "%s --help has examples and is a success",
    async (name) => {
      const { out, exitCode } = await run(name, "--help");
      expect(out).toContain(`Examples:\n  wink ${name}`);
      expect(exitCode).toBe(0);
    },
  );

  test.each([
    ["mount", [], "missing required argument 'path'"],
    ["mount", [".", "--max-bytes", "-1"], "Use an integer of 0 or more."],
    ["mount", [".", "--max-bytes", "9007199254740993"], "Use an integer of 0 or more."],
    ["replay", [], "missing required argument 'file'"],
    ["replay", ["a.jsonl", "--agent", "b.mts"], "must be used together with --test"],
    ["replay", ["a.jsonl", "--out", "b.mjs"], "must be used together with --test"],
    ["replay", ["a.jsonl", "--json", "--test"], "cannot be used with option '--test'"],
    ["inspect", ["--port", "65536"], "Use an integer from 0 to 65535."],
    ["inspect", [], "missing argument 'session': pass a session file"],
    ["inspect", ["--json"], "missing argument 'session': pass a session file"],
    ["run", [], "missing required argument 'file'"],
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

  test("inspect passes its options on", async () => {
    const args = ["one", "--store", "sessions", "--files", "kept", "--schema", "s", "--port", "7"];
    await run("inspect", ...args, "--json", "--no-open");
    const options = { store: "sessions", files: "kept", schema: "s", port: 7, json: true };
    expect(inspect).toHaveBeenCalledWith({ target: "one", ...options, open: false });
    await run("inspect", "folder");
    expect(inspect).toHaveBeenLastCalledWith({ target: "folder", port: 0, json: false });
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

  const agent = "tests/support/cli/agents/baker.ts";

  test("run passes flags before and after the module of an agent to the agent", async () => {
    vi.stubEnv("WINK_SANDBOX_IMAGE", undefined);
    runAgent.mockResolvedValueOnce(3);
    const before = ["--param", "a=1", "--json", "--store", "s", "--approve", "k"];
    const after = ["--param", "b=2", "--session", "id", "--deny", "l", "--inspect", "--port", "7"];
    const { exitCode } = await run("run", ...before, agent, ...after, "--model", "gpt-5.2");
    expect(exitCode).toBe(3);
    expect(runAgent).toHaveBeenLastCalledWith({
      file: agent,
      params: ["a=1", "b=2"],
      model: "gpt-5.2",
      provider: { sandbox: "auto", model: {} },
      isLocal: false,
      requests: false,
      store: "s",
      session: "id",
      approvals: { k: "approve", l: "deny" },
      inspect: true,
      port: 7,
      open: true,
      json: true,
      debug: false,
    });
  });

  test.each([
    [["--model", "turns.json"], { script: "turns.json" }],
    [["--model", "Turns.MJS"], { script: "Turns.MJS" }],
    [["--upstream", "u", "--upstream-model", "m"], { upstream: { baseURL: "u", model: "m" } }],
    [["--requests"], {}],
    [["--web", "pages"], {}],
    [["--sandbox", "auto"], {}],
  ])("run uses the local provider for an agent with %j", async (flags, model) => {
    await run("run", agent, ...flags);
    const options = {
      isLocal: true,
      model: undefined,
      provider: expect.objectContaining({ model }),
    };
    expect(runAgent).toHaveBeenLastCalledWith(expect.objectContaining(options));
  });

  test.each([
    [[agent, "--parm", "a=1"], "unknown option '--parm'\n(Did you mean --param?)"],
    [[agent, "loaf"], "an agent has no arguments, got 'loaf'. Use --param or --input."],
    [[agent, "--param"], "option '--param <name=value>' argument missing"],
    [[agent, "--session", "a"], "--session must be used together with --store"],
    [[agent, "--store", "s", "--approve", "a"], "--approve must be used together with --session"],
    [[agent, "--port", "7"], "--port must be used together with --inspect"],
    [[agent, "--inspect", "--port", "x"], "Use an integer from 0 to 65535."],
    [[agent, "--model", "m", "--upstream", "u"], "--model cannot be used together with --upstream"],
    [[agent, "--upstream", "u"], "must be used together"],
    [
      ["--param", "a=1", "src/cli/main.ts"],
      "--param is for agents, and src/cli/main.ts is not a module",
    ],
    [
      ["--inspect", "python3"],
      "--inspect is for agents, and python3 is not a module with a default",
    ],
  ])("run exits with 2 for %j", async (args, problem) => {
    const { err, exitCode } = await run("run", ...args);
    expect({ err, exitCode }).toEqual({ err: expect.stringContaining(problem), exitCode: 2 });
  });

  test("run reports a missing file before flags of agents, and prints help after a module too", async () => {
    runProgram.mockResolvedValueOnce(1);
    const { exitCode } = await run("run", "--param", "a=1", "nowhere.mts");
    expect(exitCode).toBe(1);
    expect(await run("run", agent, "--help")).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("Options of an agent:"),
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

  test("replay reports a missing cassette as a failure", async () => {
    const { err, exitCode } = await run("replay", join(folder, "missing.jsonl"));
    expect(err).toContain("missing.jsonl does not exist");
    expect(exitCode).toBe(1);
  });
});
