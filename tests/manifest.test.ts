import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

test("the tests run on the Node of the development dependency", () => {
  expect(process.version).toBe(`v${manifest.devDependencies.node}`);
});

test("the package has exactly these entry points", () => {
  expect(manifest.exports).toEqual({
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./claude": { types: "./dist/claude/index.d.ts", default: "./dist/claude/index.js" },
    "./files": { types: "./dist/files/index.d.ts", default: "./dist/files/index.js" },
    "./fleet": { types: "./dist/fleet/index.d.ts", default: "./dist/fleet/index.js" },
    "./local": { types: "./dist/local/index.d.ts", default: "./dist/local/index.js" },
    "./mcp": { types: "./dist/mcp/index.d.ts", default: "./dist/mcp/index.js" },
    "./openai": { types: "./dist/openai/index.d.ts", default: "./dist/openai/index.js" },
    "./stores": { types: "./dist/stores/index.d.ts", default: "./dist/stores/index.js" },
    "./telemetry": { types: "./dist/telemetry/index.d.ts", default: "./dist/telemetry/index.js" },
    "./testing": { types: "./dist/testing/index.d.ts", default: "./dist/testing/index.js" },
    "./package.json": "./package.json",
  });
});

test("bundles for edge runtimes and browsers get edge.js instead of the files that need Node", () => {
  expect(manifest.imports).toEqual({
    "#host": {
      workerd: "./dist/openai/edge.js",
      "edge-light": "./dist/openai/edge.js",
      worker: "./dist/openai/edge.js",
      browser: "./dist/openai/edge.js",
      default: "./dist/openai/host.js",
    },
  });
});

test("the command has two names, because npx wink is another package", () => {
  expect(manifest.bin).toEqual({
    weakincentives: "./dist/cli/main.js",
    wink: "./dist/cli/main.js",
  });
});

test("dependencies are ranges, and development dependencies are pinned exactly", () => {
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    // Decision 32: parse5's internals are overridden, and may change in a minor version.
    expect(version, name).toMatch(name === "parse5" ? /^~\d+\.\d+\.\d+$/ : /^\^\d+\.\d+\.\d+$/);
  }
  for (const [name, version] of Object.entries(manifest.devDependencies)) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

test("packages that only some users need are optional peers", () => {
  const peers = Object.keys(manifest.peerDependencies);
  expect(peers).toEqual([
    "@anthropic-ai/claude-agent-sdk",
    "@electric-sql/pglite",
    "@modelcontextprotocol/client",
    "@opentelemetry/api",
    "pg",
    "pg-boss",
    "pyodide",
    "zod",
  ]);
  expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(peers);
  expect(Object.keys(manifest.dependencies)).not.toEqual(expect.arrayContaining(["zod"]));
  expect(manifest).not.toHaveProperty("optionalDependencies");
});

test("decision 14 names every dependency and no other", async () => {
  const page = await readFile("docs/decisions/0014-dependencies.md", "utf8");
  const listed = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(Object.keys(manifest.dependencies).sort());
});
