import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Sandbox } from "../local/sandbox/sandbox.ts";
import { doctor, examineNode, finding } from "./doctor.ts";

function sandbox(name: string, usable: boolean): Sandbox {
  return {
    name,
    isolation: `What ${name} keeps out.`,
    probe: async () => ({ usable, reason: usable ? "a trial run succeeded" : "install it" }),
    open: () => Promise.reject(new Error("not opened here")),
  };
}

function printed(): string[] {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    lines.push(line);
  });
  return lines;
}

afterEach(() => vi.restoreAllMocks());

describe("wink doctor", () => {
  test("names each sandbox, whether it works, what it isolates and which is taken", async () => {
    const lines = printed();
    expect(await doctor({ json: false }, [sandbox("strong", false), sandbox("weak", true)])).toBe(
      0,
    );
    const text = lines.join("\n");
    expect(text).toContain(`✓ Node: ${process.versions.node}`);
    expect(text).toMatch(/✓ full-text search: SQLite 3\./);
    expect(text).toContain("✗ strong: install it\n    What strong keeps out.");
    expect(text).toContain("✓ weak: a trial run succeeded\n    What weak keeps out.");
    expect(text).toContain("wink serve takes weak unless told otherwise.");
  });

  test("ends with 1 where no sandbox works", async () => {
    const lines = printed();
    expect(await doctor({ json: false }, [sandbox("only", false)])).toBe(1);
    expect(lines.join("\n")).toContain("None works here");
  });

  test("--json prints one document", async () => {
    const lines = printed();
    await doctor({ json: true }, [sandbox("only", true)]);
    expect(JSON.parse(lines.join(""))).toEqual({
      node: { found: true, says: process.versions.node },
      sqliteFts5: { found: true, says: expect.stringContaining("SQLite") },
      python3: { found: expect.any(Boolean), says: expect.any(String) },
      pyodide: { found: expect.any(Boolean), says: expect.any(String) },
      claudeSdk: { found: expect.any(Boolean), says: expect.stringMatching(/^0\.|npm install/) },
      claudeSandbox: { found: expect.any(Boolean), says: expect.stringMatching(/starts/) },
      sandboxes: [
        {
          name: "only",
          usable: true,
          reason: "a trial run succeeded",
          isolation: "What only keeps out.",
        },
      ],
      auto: "only",
    });
  });

  test("as a command ends with 0 exactly if a sandbox works here", () => {
    const command = ["src/cli/main.ts", "doctor", "--json"];
    const { status, stdout } = spawnSync(process.execPath, command, { encoding: "utf8" });
    const { sandboxes, auto } = JSON.parse(stdout);
    expect(sandboxes.map(({ name }: Sandbox) => name)).toEqual(["bubblewrap", "wasm"]);
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
])("Node %s is new enough: %j", (version, found) => {
  expect(examineNode(version).found).toBe(found);
});

test("what is not found is told with the first line of why, and the remedy", async () => {
  const look = () => Promise.reject(new Error("no such thing\nat a place"));
  expect(await finding(look, "get one")).toEqual({ found: false, says: "no such thing: get one" });
});
