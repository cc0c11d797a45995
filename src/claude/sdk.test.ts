import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Tree, temporaryTree } from "../../tests/support/temporary-tree.ts";
import { WinkError } from "../base/errors.ts";
import { loadSdk } from "./sdk.ts";

const src = fileURLToPath(new URL("../", import.meta.url));
const main = `
import { loadSdk } from "./src/claude/sdk.ts";
const told = await loadSdk().then((sdk) => sdk.query(), (error) => error);
const { name, message, cause } = told;
console.log(JSON.stringify({ name, message, hasCause: cause instanceof Error }));
`;

/** What comes of loading the SDK where its package has these files. */
async function loaded(sdk: Tree): Promise<unknown> {
  const at = "node_modules/@anthropic-ai/claude-agent-sdk";
  const files = Object.entries(sdk).map(([path, text]) => [join(at, path), text]);
  const folder = temporaryTree({ "main.ts": main, ...Object.fromEntries(files) });
  symlinkSync(src, join(folder, "src"));
  const flags = ["--no-warnings", "--preserve-symlinks", "--preserve-symlinks-main"];
  const ran = await promisify(execFile)(process.execPath, [...flags, join(folder, "main.ts")]);
  return JSON.parse(ran.stdout);
}

const about = JSON.stringify({
  name: "@anthropic-ai/claude-agent-sdk",
  version: "0.3.0",
  type: "module",
  exports: "./sdk.js",
});
const remedy = "run npm install @anthropic-ai/claude-agent-sdk, or give it as the adapter's sdk";

describe("the SDK", () => {
  test("is the package that is installed", async () => {
    const code = 'export const query = () => ({ message: "asked" });';
    expect(await loaded({ "package.json": about, "sdk.js": code })).toMatchObject({
      message: "asked",
    });
  });

  test("that is not installed is asked for", async () => {
    expect(await loaded({})).toEqual({
      name: "WinkError",
      message: `The Claude Agent SDK is not installed: ${remedy}`,
      hasCause: true,
    });
  });

  test("that cannot be loaded says why", async () => {
    const code = 'throw new Error("needs another Node");';
    expect(await loaded({ "package.json": about, "sdk.js": code })).toEqual({
      name: "WinkError",
      message: `The Claude Agent SDK could not be loaded (needs another Node): ${remedy}`,
      hasCause: true,
    });
  });

  test("that is too old to be asked is refused", async () => {
    expect(await loaded({ "package.json": about, "sdk.js": "export const old = true;" })).toEqual({
      name: "WinkError",
      message: "@anthropic-ai/claude-agent-sdk has no query(): install version 0.3 or later",
      hasCause: false,
    });
  });

  test("is here or is not, and nothing else comes of it", async () => {
    const outcome: unknown = await loadSdk().catch((error: unknown) => error);
    if (outcome instanceof WinkError) expect(outcome.message).toContain("is not installed");
    else expect(outcome).toHaveProperty("query", expect.any(Function));
  });
});
