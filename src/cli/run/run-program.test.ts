import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ProgramRunOptions } from "./run-options.ts";
import { runProgram } from "./run-program.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-test-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

function writeProgram(code: string, name = "agent.mts"): string {
  const path = join(folder, name);
  writeFileSync(path, code);
  return path;
}

/** Runs `wink run` in its own process, with temporary folders that the test can inspect. */
function winkRun(...args: readonly string[]) {
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const env = { ...process.env, TMPDIR: temporary, FORCE_COLOR: undefined };
  const command = ["src/cli/main.ts", "run", ...args];
  const result = spawnSync(process.execPath, command, { encoding: "utf8", env });
  return { ...result, temporary };
}

const ask = `
const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY } = process.env;
const send = (key) => fetch(url + "/responses", {
  method: "POST",
  headers: { "content-type": "application/json", authorization: "Bearer " + key },
  body: JSON.stringify({ model: "any", input: "Hello." }),
});
const { output } = await (await send(key)).json();
console.log(output[0].content[0].text);
console.log((await send("guessed")).status, ANTHROPIC_BASE_URL + "/v1" === url, ANTHROPIC_API_KEY === key);
console.log(process.argv.slice(2).join(" "));
process.exitCode = 3;`;

describe("wink run", () => {
  test("runs a program on a provider that only the program can use", () => {
    const { stdout, stderr, status, temporary } = winkRun(writeProgram(ask), "--requests", "two");
    expect({ stdout, stderr, status }).toEqual({
      stdout: "You said: Hello.\n401 true true\n--requests two\n",
      stderr: "",
      status: 3,
    });
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("plays a script and prints requests on standard error", () => {
    const turns = join(folder, "turns.json");
    writeFileSync(turns, JSON.stringify([[{ say: "From the script." }]]));
    const { stdout, stderr } = winkRun("--model", turns, "--requests", writeProgram(ask));
    expect(stdout).toMatch(/^From the script\.\n/);
    expect(stderr).toMatch(/^POST \/v1\/responses 200 \d+ms [\d+]+ tokens\nPOST .* 401 /);
  });

  test("--json prints the server and each request as a line on standard error", () => {
    const { stdout, stderr } = winkRun("--json", writeProgram(ask));
    expect(stdout).toMatch(/^You said: Hello\.\n/);
    const [server, ...requests] = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(server).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
      sandbox: expect.anything(),
      model: "echo",
    });
    expect(requests).toMatchObject([{ request: { status: 200 } }, { request: { status: 401 } }]);
  });

  test.each([
    [["nowhere.mts"], /^error: program must be an existing file, got "nowhere\.mts"\. Pass the /],
    [["wink-no-such-command"], /^error: program must be a program that starts, got "wink-no-such/],
    [["--web", "/nowhere", "true"], /^error: --web must be an existing folder of pages/],
    [["--model", "/nowhere.json", "true"], /^error: --model must be a readable file/],
  ])("%j exits with 1 and prints the reason", (args, reason) => {
    const { status, stderr, temporary } = winkRun(...args);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(reason) });
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("--debug prints the class and the stack of an error", () => {
    const { stderr } = winkRun("--debug", "nowhere.mts");
    expect(stderr).toMatch(/^InvalidOptionError: program must be[\s\S]*\n\s+at /);
  });
});

describe("runProgram()", () => {
  const options: Omit<ProgramRunOptions, "program"> = {
    args: [],
    provider: { sandbox: "auto", model: {} },
    json: false,
    requests: false,
  };

  test("passes a signal on and returns the exit code that the program chooses", async () => {
    vi.stubEnv("WINK_TEST_READY", join(folder, "ready"));
    const program = writeProgram(`
      import { writeFileSync } from "node:fs";
      process.on("SIGTERM", () => process.exit(5));
      setInterval(() => {}, 1000);
      writeFileSync(process.env.WINK_TEST_READY, "");`);
    const host = new EventEmitter();
    const running = runProgram({ ...options, program }, host);
    await vi.waitFor(() => expect(readdirSync(folder)).toContain("ready"), 30_000);
    host.emit("SIGTERM");
    expect(await running).toBe(5);
    expect(host.eventNames()).toEqual([]);
  });

  test("returns 128 plus the number of the signal that ended the program", async () => {
    const program = writeProgram('process.kill(process.pid, "SIGKILL");');
    expect(await runProgram({ ...options, program })).toBe(137);
  });

  test("prints the server and its requests as JSON on standard error", async () => {
    const lines: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
    const program = writeProgram(`await fetch(process.env.OPENAI_BASE_URL + "/models");`);
    expect(await runProgram({ ...options, program, json: true })).toBe(0);
    vi.restoreAllMocks();
    const [server, request] = lines.map((line) => JSON.parse(line));
    expect(server).toMatchObject({ model: "echo" });
    expect(request).toMatchObject({ request: { method: "GET", status: 401 } });
  });

  test.each([
    ["nowhere.mts", "must be an existing file"],
    ["wink-no-such-command", "must be a program that starts"],
  ])("rejects the program %s", async (program, rule) => {
    const terminal = { write: () => {} };
    const failure = await runProgram({ ...options, program, terminal }).catch((error) => error);
    expect(failure.message).toContain(rule);
    if (program === "wink-no-such-command") expect(failure.cause).toMatchObject({ code: "ENOENT" });
  });

  test("passes Ctrl-C on if no terminal does", async () => {
    vi.stubEnv("WINK_TEST_READY", join(folder, "ready"));
    const program = writeProgram(`
      import { writeFileSync } from "node:fs";
      process.on("SIGINT", () => process.exit(6));
      setInterval(() => {}, 1000);
      writeFileSync(process.env.WINK_TEST_READY, "");`);
    const host = new EventEmitter();
    const running = runProgram({ ...options, program, requests: true }, host);
    await vi.waitFor(() => expect(readdirSync(folder)).toContain("ready"), 30_000);
    host.emit("SIGINT");
    expect(await running).toBe(6);
  });

  test("leaves Ctrl-C to the terminal, which sends it to the program too", async () => {
    const before = Object.getOwnPropertyDescriptor(process.stdin, "isTTY");
    process.stdin.isTTY = true;
    onTestFinished(() => {
      Object.defineProperty(process.stdin, "isTTY", before ?? { value: undefined, writable: true });
    });
    vi.stubEnv("WINK_TEST_READY", join(folder, "ready"));
    const program = writeProgram(`
      import { writeFileSync } from "node:fs";
      process.on("SIGINT", () => process.exit(6));
      process.on("SIGTERM", () => process.exit(5));
      setInterval(() => {}, 1000);
      writeFileSync(process.env.WINK_TEST_READY, "");`);
    const host = new EventEmitter();
    const running = runProgram({ ...options, program }, host);
    await vi.waitFor(() => expect(readdirSync(folder)).toContain("ready"), 30_000);
    host.emit("SIGINT");
    host.emit("SIGTERM");
    expect(await running).toBe(5);
  });

  test("says on a terminal that an echo answers", async () => {
    let shown = "";
    const terminal = {
      isTTY: true,
      write: (text: string) => {
        shown += text;
      },
    };
    const program = writeProgram("");
    expect(await runProgram({ ...options, program, terminal })).toBe(0);
    expect(shown).toMatch(
      /^.*Starting the local provider ….*An echo answers instead of a model\./s,
    );
    shown = "";
    await runProgram({
      ...options,
      program,
      terminal,
      provider: { sandbox: "auto", model: { script: writeTurns() } },
    });
    expect(shown).not.toContain("echo");
  });

  function writeTurns(): string {
    const path = join(folder, "turns.json");
    writeFileSync(path, "[]");
    return path;
  }
});
