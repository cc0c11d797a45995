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
const outcome = await loadSdk().then((sdk) => sdk.query(), (error) => error);
const { name, message, cause } = outcome;
console.log(JSON.stringify({ name, message, hasCause: cause instanceof Error }));
`;

/** Loads the SDK in a new process where its package has these files, and returns the outcome. */
async function loadInProcess(sdk: Tree): Promise<unknown> {
  const at = "node_modules/@anthropic-ai/claude-agent-sdk";
  const files = Object.entries(sdk).map(([path, text]) => [join(at, path), text]);
  const folder = temporaryTree({ "main.ts": main, ...Object.fromEntries(files) });
  symlinkSync(src, join(folder, "src"));
  const flags = ["--no-warnings", "--preserve-symlinks", "--preserve-symlinks-main"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    join(folder, "main.ts"),
  ]);
  return JSON.parse(stdout);
}

const manifest = JSON.stringify({
  name: "@anthropic-ai/claude-agent-sdk",
  version: "0.3.0",
  type: "module",
  exports: "./sdk.js",
});
const remedy =
  "Run npm install @anthropic-ai/claude-agent-sdk, or pass the module as the adapter's sdk option.";

describe("loadSdk()", () => {
  test("loads the installed package", async () => {
    const code = 'export const query = () => ({ message: "called" });';
    expect(await loadInProcess({ "package.json": manifest, "sdk.js": code })).toMatchObject({
      message: "called",
    });
  });

  test("reports a missing package with the install command", async () => {
    expect(await loadInProcess({})).toEqual({
      name: "WinkError",
      message: `The Claude Agent SDK is not installed. ${remedy}`,
      hasCause: true,
    });
  });

  test("reports why the package could not be loaded", async () => {
    const code = 'throw new Error("needs another Node");';
    expect(await loadInProcess({ "package.json": manifest, "sdk.js": code })).toEqual({
      name: "WinkError",
      message: `The Claude Agent SDK could not be loaded (needs another Node). ${remedy}`,
      hasCause: true,
    });
  });

  test("rejects a package without query()", async () => {
    expect(
      await loadInProcess({ "package.json": manifest, "sdk.js": "export const old = true;" }),
    ).toEqual({
      name: "WinkError",
      message:
        "@anthropic-ai/claude-agent-sdk does not export query(). Install version 0.3 or later.",
      hasCause: false,
    });
  });

  test("either loads the package or reports that it is not installed", async () => {
    const outcome: unknown = await loadSdk().catch((error: unknown) => error);
    if (outcome instanceof WinkError) expect(outcome.message).toContain("is not installed");
    else expect(outcome).toHaveProperty("query", expect.any(Function));
  });
});
