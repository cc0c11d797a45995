import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Stoppable } from "./end-on-signal.ts";
import { serve } from "./serve.ts";

let folder = "";
let started: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-test-"));
});

afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  started = [];
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const command = ["src/cli/main.ts", "serve"];

/** Starts a server in its own process, with temporary folders that the test can inspect. */
async function startServer(...args: readonly string[]) {
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const env = { ...process.env, TMPDIR: temporary, FORCE_COLOR: undefined };
  const child = spawn(process.execPath, [...command, "--port", "0", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let out = "";
  let err = "";
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    err += text;
  });
  await vi.waitFor(() => expect(out, err).toMatch(/\}\n$|Press Ctrl-C to stop\.\n$/), {
    timeout: 30_000,
  });
  return { child, temporary, out: () => out, url: /http[^"\s]+\/v1/.exec(out)?.[0] ?? "" };
}

function createClient(url: string): OpenAI {
  return new OpenAI({ baseURL: url, apiKey: "local", maxRetries: 0 });
}

function writeScript(...steps: readonly (readonly object[])[]): string {
  const path = join(folder, "turns.json");
  writeFileSync(path, JSON.stringify(steps));
  return path;
}

/** Returns all descendants of a process. */
function listDescendants(pid: number | undefined): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const listBelow = (parent: number | undefined): number[] =>
    pairs.flatMap(([child = 0, of]) => (of === parent ? [child, ...listBelow(child)] : []));
  return listBelow(pid);
}

/**
 * Returns `R` for running, `S` for sleeping, `Z` for a zombie, `""` if the process does not exist.
 */
function readProcessState(pid: number): string {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim().charAt(0);
}

const PYTHON = { type: "code_interpreter", container: { type: "auto" } } as const;

describe("wink serve as a command", () => {
  test("answers OpenAI's official client as an echo, with and without streaming", async () => {
    const { url, out } = await startServer("--json");
    const client = createClient(url);
    const { output_text: text } = await client.responses.create({ model: "any", input: "Hello." });
    expect(text).toBe("You said: Hello.");
    let streamed = "";
    const events = await client.responses.create({ model: "any", input: "Again.", stream: true });
    for await (const event of events) {
      if (event.type === "response.output_text.delta") streamed += event.delta;
    }
    expect(streamed).toBe("You said: Again.");
    await vi.waitFor(() => expect(out().split("\n")).toHaveLength(4));
    const [first, ...requests] = out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(first).toEqual({ url, sandbox: expect.any(String), model: "echo" });
    const request = { method: "POST", path: "/v1/responses", status: 200, outcome: "complete" };
    const usage = { inputTokens: expect.any(Number), outputTokens: expect.any(Number) };
    expect(requests).toMatchObject([
      { request: { ...request, isStream: false, usage } },
      { request: { ...request, isStream: true, usage } },
    ]);
  });

  test("prints one line per request, with the tokens of turns and the errors of others", async () => {
    const script = writeScript([{ say: "Hi." }], [{ code: "1" }]);
    const { url, out } = await startServer("--model", script);
    const before = out().length;
    const client = createClient(url);
    const ask = () => client.responses.create({ model: "any", input: "Hello." });
    await ask();
    await ask().catch(() => undefined);
    await fetch(`${url}/chat/completions?key=s3cret`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    await fetch(`${url.replace("/v1", "")}/api/hello`);
    await vi.waitFor(() => expect(out().slice(before).split("\n")).toHaveLength(4));
    const lines = out().slice(before).split("\n");
    expect(lines[0]).toMatch(/^POST \/v1\/responses 200 \d+ms \d+\+\d+ tokens$/);
    expect(lines[1]).toMatch(
      /^POST \/v1\/responses 500 \d+ms Step 2 failed: the model ran code, but/,
    );
    expect(lines[2]).toMatch(/^POST \/v1\/chat\/completions 400 \d+ms Unknown parameter: 'key'\.$/);
    expect(out()).not.toContain("s3cret");
  });

  test("prints no line per request with --quiet", async () => {
    const { url, out } = await startServer("--json", "--quiet");
    await createClient(url).responses.create({ model: "any", input: "Hello." });
    await fetch(`${url}/models`);
    expect(JSON.parse(out())).toMatchObject({ url });
  });

  test("keeps serving after the reader of its output has closed the pipe", async () => {
    const { url, child } = await startServer("--json");
    child.stdout?.destroy();
    for (let place = 0; place < 3; place++) expect((await fetch(`${url}/models`)).status).toBe(200);
    expect(child.exitCode).toBeNull();
  });

  test("sends the key of WINK_UPSTREAM_KEY to the model server and does not print it", async () => {
    const keys: (string | undefined)[] = [];
    const choices = [{ message: { role: "assistant", content: "Hi." } }];
    const server = createServer((request, response) => {
      keys.push(request.headers.authorization);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ choices }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    vi.stubEnv("WINK_UPSTREAM_KEY", "upstream-secret-key");
    const { url, out } = await startServer(
      ...["--upstream", `http://127.0.0.1:${port}/v1`, "--upstream-model", "m"],
    );
    const { output_text: text } = await createClient(url).responses.create({
      model: "any",
      input: "Hello.",
    });
    server.close();
    expect({ text, keys }).toEqual({ text: "Hi.", keys: ["Bearer upstream-secret-key"] });
    expect(out()).not.toContain("upstream-secret-key");
  });

  test("runs a script's code in WebAssembly and leaves nothing behind when stopped during the run", {
    timeout: 30_000,
  }, async () => {
    const script = writeScript(
      [{ code: "x = 6 * 7\nprint(x)" }],
      [{ say: "42" }],
      [{ code: "while True: pass" }],
    );
    const { url, child, temporary } = await startServer(
      ...["--json", "--sandbox", "wasm", "--model", script],
    );
    expect(listDescendants(child.pid), "before code runs").toEqual([]);
    const client = createClient(url);
    const first = await client.responses.create({
      model: "any",
      tools: [PYTHON],
      include: ["code_interpreter_call.outputs"],
      input: "Work it out.",
    });
    expect(first.output[0]).toMatchObject({ outputs: [{ type: "logs", logs: "42\n" }] });

    const busy = client.responses
      .create({
        model: "any",
        tools: [PYTHON],
        previous_response_id: first.id,
        input: "Go on.",
      })
      .catch((error: unknown) => error);
    await vi.waitFor(
      () => expect(listDescendants(child.pid).map(readProcessState)).toContain("R"),
      30_000,
    );
    await expectCleanEnd(child, temporary, "SIGINT");
    expect(await busy).toBeInstanceOf(OpenAI.APIConnectionError);
  });

  test("exits within a second while an interpreter is still starting", async () => {
    const script = writeScript([{ code: "1" }]);
    const { url, child, temporary } = await startServer(
      ...["--json", "--sandbox", "wasm", "--model", script],
    );
    const asked = createClient(url)
      .responses.create({ model: "any", tools: [PYTHON], input: "Go." })
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(listDescendants(child.pid)).not.toEqual([]), 30_000);
    await expectCleanEnd(child, temporary, "SIGTERM");
    expect(await asked).toBeInstanceOf(OpenAI.APIConnectionError);
  });

  test("prints its URL, sandbox, model and connection examples", async () => {
    const { out, url } = await startServer("--sandbox", "wasm");
    expect(out()).toContain(`OpenAI API running locally: ${url}\n`);
    expect(out()).toContain("sandbox  wasm\n           (wasm: it is installed, and is tested when");
    expect(out()).toContain("model    an echo (use --model or --upstream for another)");
    expect(out()).toContain(`OPENAI_BASE_URL=${url} OPENAI_API_KEY=local node agent.js`);
    expect(out()).toContain(`new OpenAI({ baseURL: "${url}", apiKey: "local" })`);
    expect(out()).toContain(`ANTHROPIC_BASE_URL=${url.replace("/v1", "")} ANTHROPIC_API_KEY=local`);
    expect(out()).toContain("Responses API and chat completions, and Anthropic's Messages API.");
    expect(out()).not.toContain("\u001b[");
  });

  test("requires the key of WINK_API_KEY and does not print it", async () => {
    vi.stubEnv("WINK_API_KEY", "wink-secret-key");
    const { out, url } = await startServer();
    const headers = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    expect((await fetch(`${url}/models`)).status).toBe(401);
    expect((await fetch(`${url}/models`, headers("wink-secret-key"))).status).toBe(200);
    expect(out()).toContain("OPENAI_API_KEY=YOUR_KEY");
    expect(out()).not.toContain("wink-secret-key");
  });

  test.each([
    [["--port", "x"], 2, /argument 'x' is invalid\. Use an integer from 0 to 65535/],
    [["--port", "65536"], 2, /argument '65536' is invalid/],
    [["--sandbox", "chroot"], 2, /Allowed choices are auto, bubblewrap, podman, docker, wasm/],
    [["--sandbox-image", "a"], 2, /must be used together with --sandbox podman or docker/],
    [["--sandbox", "docker", "--sandbox-image", "--privileged"], 1, /--sandbox-image must be/],
    [["--prot", "1"], 2, /unknown option '--prot'[\s\S]*Did you mean --port/],
    [
      ["--upstream", "http://127.0.0.1:1/v1"],
      2,
      /--upstream and --upstream-model must be used together/,
    ],
    [["--upstream-key", "k"], 2, /--upstream-key must be used together with --upstream/],
    [
      ["--upstream", "http://127.0.0.1:1/v1", "--upstream-model", "m", "--upstream-key", "s3 cret"],
      1,
      /^error: --upstream-key must be a single line of printable ASCII characters without spaces, got a secret \(not shown\)\. Pass the key/,
    ],
    [
      ["--model", "a.json", "--upstream", "http://127.0.0.1:1", "--upstream-model", "m"],
      2,
      /option '--model <script>' cannot be used with option '--upstream <url>'/,
    ],
    [
      ["--host", "0.0.0.0"],
      1,
      /^error: --host must be a loopback address unless an API key is set, got "0\.0\.0\.0". Set WINK_API_KEY, pass --api-key, or omit --host/,
    ],
    [["--api-key", ""], 1, /^error: --api-key must be a non-empty string/],
    [["--web", "/nowhere"], 1, /^error: --web must be an existing folder of pages/],
    [["--data-dir", "/dev/null"], 1, /^error: --data-dir must be a folder .*\/dev\/null/],
    [
      ["--data-dir", "/proc/wink-none"],
      1,
      /^error: --data-dir must be a folder that can be created and written to \(.*\), got "\/proc\/wink-none". Use another folder\./,
    ],
    [
      ["--data-dir", "/sys"],
      1,
      /^error: --data-dir must be a folder .*, got "\/sys". Use another folder\./,
    ],
    [["--model", "/nowhere.json"], 1, /^error: --model must be a readable file/],
    [
      ["--upstream", "ftp://a", "--upstream-model", "m"],
      1,
      /^error: --upstream must be an http: or https: URL/,
    ],
  ])("%j exits with %i and prints the reason", (args, code, problem) => {
    const all = [...command, "--port", "0", ...args];
    const env = { ...process.env, TMPDIR: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8", env });
    expect({ status, stdout, stderr }).toEqual({
      status: code,
      stdout: "",
      stderr: expect.stringMatching(problem),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("serve()", () => {
  /** A process that its test stops. */
  class FakeProcess extends EventEmitter implements Stoppable {
    readonly #exit = Promise.withResolvers<number>();
    readonly exited = this.#exit.promise;

    exit(code: number): void {
      this.#exit.resolve(code);
    }
  }

  function captureOutput(): string[] {
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => {
      lines.push(line);
    });
    return lines;
  }

  const plain = {
    port: 0,
    host: "127.0.0.1",
    sandbox: "wasm",
    model: {},
    json: true,
    quiet: true,
  } as const;

  test("stores data in the given folder and exits with 0", async () => {
    const lines = captureOutput();
    for (const expected of [[], ["note.txt"]]) {
      const host = new FakeProcess();
      await serve({ ...plain, dataDir: folder }, host);
      const client = createClient(JSON.parse(lines.pop() ?? "").url);
      const { data } = await client.files.list();
      expect(data.map(({ filename }) => filename)).toEqual(expected);
      await client.files.create({ file: new File(["a"], "note.txt"), purpose: "user_data" });
      host.emit("SIGINT");
      expect(await host.exited).toBe(0);
    }
    expect(readdirSync(folder)).toContain("local.sqlite");
  });

  test("prints the upstream server, the pages and the folder", async () => {
    const lines = captureOutput();
    const host = new FakeProcess();
    const upstream = { baseURL: "http://127.0.0.1:9/v1", model: "qwen3" };
    const asked = { ...plain, json: false, model: { upstream }, web: folder, dataDir: folder };
    await serve(asked, host);
    const text = lines.join("\n");
    expect(text).toContain("model    qwen3 at http://127.0.0.1:9/v1");
    expect(text).toContain(`web      ${folder}`);
    expect(text).toContain(`data     ${folder}`);
    host.emit("SIGTERM");
    expect(await host.exited).toBe(0);
  });

  test("prints a placeholder for the API key", async () => {
    const lines = captureOutput();
    const host = new FakeProcess();
    await serve({ ...plain, json: false, apiKey: "wink-secret-key" }, host);
    const text = lines.join("\n");
    expect(text).toContain('apiKey: "YOUR_KEY"');
    expect(text).toContain("data     a temporary folder that is deleted at the end");
    expect(text).not.toContain("wink-secret-key");
    host.emit("SIGHUP");
    expect(await host.exited).toBe(0);
  });

  test("prints nothing more and exits with 0 if it is stopped while starting", async () => {
    const lines = captureOutput();
    const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const host = new FakeProcess();
    const serving = serve({ ...plain, sandbox: "auto", dataDir: folder }, host);
    await new Promise(setImmediate);
    host.emit("SIGINT");
    expect(await host.exited).toBe(0);
    await serving;
    expect(lines).toEqual([]);
    expect(told).not.toHaveBeenCalled();
  });

  test("rejects a port in use and then ignores signals", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const host = new FakeProcess();
    await expect(serve({ ...plain, port }, host)).rejects.toThrow(
      `--port must be free to listen on (listen EADDRINUSE: address already in use 127.0.0.1:${port})`,
    );
    expect(host.eventNames()).toEqual([]);
    other.close();
  });
});

/** Expects exit code 0 within a second, without leftover processes and files. */
async function expectCleanEnd(child: ChildProcess, temporary: string, signal: NodeJS.Signals) {
  const children = await vi.waitFor(() => {
    const found = listDescendants(child.pid); // tools that mount a disk end by themselves
    expect(found).not.toEqual([]);
    return found;
  }, 30_000);
  const told = performance.now();
  child.kill(signal);
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(performance.now() - told).toBeLessThan(1_500); // one second on an idle machine
  const isAlive = () => children.filter((pid) => !["", "Z"].includes(readProcessState(pid)));
  await vi.waitFor(() => expect(isAlive()).toEqual([]), 30_000);
  expect(readdirSync(temporary)).toEqual([]);
}
