import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Sandbox } from "../../local/sandbox/sandbox.ts";
import { doctor } from "./doctor.ts";
import { createFinding, examineNode } from "./running-checks.ts";

function createSandbox(name: string, usable: boolean): Sandbox {
  return {
    name,
    isolation: `What ${name} keeps out.`,
    probe: async () => ({ usable, reason: usable ? "a trial run succeeded" : "install it" }),
    open: () => Promise.reject(new Error("not opened here")),
  };
}

function captureOutput(): string[] {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    lines.push(line);
  });
  return lines;
}

afterEach(() => vi.restoreAllMocks());

describe("wink doctor", () => {
  test("lists each sandbox, whether it works, its isolation and the default", async () => {
    const lines = captureOutput();
    expect(
      await doctor({
        json: false,
        sandboxes: [createSandbox("strong", false), createSandbox("weak", true)],
      }),
    ).toBe(0);
    const text = lines.join("\n");
    expect(text).toContain(`✓ Node: ${process.versions.node}`);
    expect(text).toMatch(/✓ full-text search: SQLite 3\./);
    expect(text).toContain("✗ strong: install it\n    What strong keeps out.");
    expect(text).toContain(
      "✓ weak: a trial run succeeded\n    What weak keeps out.\n    Limits: memory watched, processes watched, disk ",
    );
    expect(text.match(/Limits:/g)).toHaveLength(1);
    expect(text).toContain("wink serve uses weak by default.");
  });

  test("exits with 1 if no sandbox works", async () => {
    const lines = captureOutput();
    expect(await doctor({ json: false, sandboxes: [createSandbox("only", false)] })).toBe(1);
    expect(lines.join("\n")).toContain("No sandbox works on this machine.");
  });

  test("--json prints one document", async () => {
    const lines = captureOutput();
    await doctor({ json: true, sandboxes: [createSandbox("only", true)] });
    expect(JSON.parse(lines.join(""))).toEqual({
      node: { found: true, says: process.versions.node },
      sqliteFts5: { found: true, says: expect.stringContaining("SQLite") },
      python3: { found: expect.any(Boolean), says: expect.any(String) },
      pyodide: { found: expect.any(Boolean), says: expect.any(String) },
      claudeSdk: { found: expect.any(Boolean), says: expect.stringMatching(/^0\.|npm install/) },
      claudeSandbox: {
        found: expect.any(Boolean),
        says: expect.stringMatching(/available|starts/),
      },
      sandboxes: [
        {
          name: "only",
          usable: true,
          reason: "a trial run succeeded",
          isolation: "What only keeps out.",
          limits: {
            memory: "watched",
            processes: "watched",
            disk: expect.stringMatching(/^(enforced|watched)$/),
            means: expect.stringMatching(/^the sandbox's own measurements[;,] /),
          },
        },
      ],
      auto: "only",
    });
  });

  test("prints each line as soon as it is known, and tries all sandboxes at the same time", async () => {
    const lines = captureOutput();
    const trials = ["strong", "weak"].map((name) => {
      const { promise, resolve } = Promise.withResolvers<{ usable: boolean; reason: string }>();
      const probe = vi.fn(() => promise);
      return { sandbox: { ...createSandbox(name, true), probe }, probe, resolve };
    });
    const sandboxes = trials.map(({ sandbox }) => sandbox);
    const done = doctor({ json: false, sandboxes });
    await expect.poll(() => lines.join("\n")).toContain("Sandboxes for code");
    expect(lines[0]).toBe("Requirements:\n");
    expect(trials.map(({ probe }) => probe.mock.calls.length)).toEqual([1, 1]);
    const [strong, weak] = trials;
    weak?.resolve({ usable: true, reason: "it is fast" });
    strong?.resolve({ usable: false, reason: "it is slow" });
    expect(await done).toBe(0);
    const text = lines.join("\n");
    expect(text.indexOf("✗ strong: it is slow")).toBeLessThan(text.indexOf("✓ weak: it is fast"));
  });

  test("shows the running check on a terminal at once, and nothing elsewhere", async () => {
    const lines = captureOutput();
    const written: string[] = [];
    const write = (text: string) => void written.push(text);
    const sandboxes = [createSandbox("only", true)];
    const running = doctor({ json: false, sandboxes, terminal: { isTTY: true, write } });
    expect(written[0]).toBe("\r\u001b[KChecking this machine …");
    await running;
    expect(written.join("")).toContain("… only: trial run");
    expect(written.at(-1)).toBe("\r\u001b[K");
    written.length = 0;
    await doctor({ json: false, sandboxes, terminal: { isTTY: false, write } });
    await doctor({ json: true, sandboxes, terminal: { isTTY: true, write } });
    expect(written).toEqual([]);
    expect(lines.join("")).not.toContain("…");
  });

  test("reports a sandbox whose trial throws", async () => {
    const lines = captureOutput();
    const probe = () => Promise.reject(new Error("no bwrap"));
    const sandboxes = [{ ...createSandbox("only", true), probe }];
    expect(await doctor({ json: false, sandboxes })).toBe(1);
    expect(lines.join("\n")).toContain("✗ only: no bwrap");
  });

  test("exits with 0 exactly if a sandbox works on this machine", () => {
    const command = ["src/cli/main.ts", "doctor", "--json"];
    const { status, stdout } = spawnSync(process.execPath, command, { encoding: "utf8" });
    const { sandboxes, auto } = JSON.parse(stdout);
    expect(sandboxes.map(({ name }: Sandbox) => name)).toEqual([
      "bubblewrap",
      "podman",
      "docker",
      "wasm",
    ]);
    expect(status).toBe(auto === null ? 1 : 0);
  });

  test("has examples in its help", () => {
    const command = ["src/cli/main.ts", "doctor", "--help"];
    const { status, stdout } = spawnSync(process.execPath, command, { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/Examples:/) });
  });
});

test.each([
  ["22.18.0", false],
  ["20.20.2", false],
  ["22.19.0", true],
  ["24.0.0", true],
])("examineNode() reports for Node.js %s: %j", (version, found) => {
  expect(examineNode(version).found).toBe(found);
});

test("createFinding() returns the first line of the error and the remedy", async () => {
  const look = () => Promise.reject(new Error("no such thing\nat a place"));
  expect(await createFinding(look, "Get one")).toEqual({
    found: false,
    says: "no such thing. Get one",
  });
});
