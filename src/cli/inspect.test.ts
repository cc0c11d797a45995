import { spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type InspectHost, inspect, openBrowser } from "./inspect.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-test-"));
  const header = {
    n: 0,
    kind: "session",
    version: 2,
    id: "one",
    createdAt: "2026-01-01T00:00:00.000Z",
    tags: {},
  };
  writeFileSync(join(folder, "one.jsonl"), `${JSON.stringify(header)}\n`, { mode: 0o600 });
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
});

/** A process that its test stops. */
class FakeProcess extends EventEmitter implements InspectHost {
  readonly #exit = Promise.withResolvers<number>();
  readonly exited = this.#exit.promise;
  readonly stdout: { readonly isTTY: boolean };

  constructor(isTTY: boolean) {
    super();
    this.stdout = { isTTY };
  }

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

describe("wink inspect", () => {
  test("prints only its URL when piped, serves until a signal, and exits with 0", async () => {
    const child = spawn(process.execPath, [main, "inspect", folder]);
    const [line] = await once(child.stdout.setEncoding("utf8"), "data");
    expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}\/\n$/);
    expect(await (await fetch(`${line.trim()}sessions`)).json()).toMatchObject({
      sessions: [{ id: "one" }],
    });
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("exits with 1 and the remedy for a path that does not exist", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, "inspect", "/nowhere"], {
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(
      /^error: SESSION must be an existing file or folder .*, got "\/nowhere"\. Pass a session file/,
    );
  });
});

describe("inspect()", () => {
  test("opens a browser on a terminal, and explains the URL", async () => {
    const lines = captureOutput();
    const opened: string[] = [];
    const host = new FakeProcess(true);
    await inspect({ target: folder, port: 0, json: false }, host, (url) => opened.push(url));
    expect(lines.join("\n")).toContain(`One session of ${folder}:`);
    expect(lines.join("\n")).toContain(opened[0]);
    expect(lines.join("\n")).toContain("Only this machine can open the page");
    host.emit("SIGINT");
    expect(await host.exited).toBe(0);
  });

  test.each([
    [{ json: true }, true],
    [{ json: false }, false],
    [{ json: false, open: false }, true],
  ])("opens no browser with %j on a terminal: %s", async (options, isTTY) => {
    const lines = captureOutput();
    const opened: string[] = [];
    const host = new FakeProcess(isTTY);
    await inspect({ target: folder, port: 0, ...options }, host, (url) => opened.push(url));
    expect(opened).toEqual([]);
    if (options.json)
      expect(JSON.parse(lines[0] ?? "")).toEqual({
        url: expect.stringMatching(/^http/),
        sessions: ["one"],
      });
    host.emit("SIGTERM");
    await host.exited;
  });

  test("rejects a port in use, and ignores signals afterwards", async () => {
    const lines = captureOutput();
    const first = new FakeProcess(false);
    await inspect({ target: folder, port: 0, json: false }, first);
    const port = Number(new URL(lines[0] ?? "").port);
    const host = new FakeProcess(false);
    await expect(inspect({ target: folder, port, json: false }, host)).rejects.toThrow(
      "--port must be free to listen on",
    );
    expect(host.eventNames()).toEqual([]);
    first.emit("SIGINT");
    await first.exited;
  });

  test("ignores a browser that does not start", async () => {
    expect(() => openBrowser("http://127.0.0.1:1/", "aix")).not.toThrow();
    expect(() => openBrowser("http://127.0.0.1:1/", "darwin")).not.toThrow();
  });
});
