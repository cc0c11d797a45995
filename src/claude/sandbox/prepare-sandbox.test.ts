import { chmodSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { checkSandboxStarts, createSandboxError } from "./prepare-sandbox.ts";

/** Creates programs from shell scripts and returns a PATH to find them. */
function createPrograms(scripts: Readonly<Record<string, string>>): string {
  const folder = temporaryTree();
  const files = Object.entries(scripts).map(([name, script]) => [name, `#!/bin/sh\n${script}\n`]);
  const created = temporaryTree(Object.fromEntries(files));
  for (const name of Object.keys(scripts)) chmodSync(join(created, name), 0o755);
  return `${folder}::${created}`;
}

const checkOnLinux = (path: string) => checkSandboxStarts(path, { platform: "linux" });

describe("checkSandboxStarts()", () => {
  test("passes if the sandbox starts", async () => {
    await expect(
      checkOnLinux(createPrograms({ bwrap: "exit 0", socat: "exit 0" })),
    ).resolves.toBeUndefined();
  });

  test("names missing programs, how to install them, and how to run without a sandbox", async () => {
    await expect(checkOnLinux(createPrograms({}))).rejects.toMatchObject({
      name: "InvalidOptionError",
      field: "isolation.sandbox.enabled",
      message:
        "isolation.sandbox.enabled must be false unless the sandbox starts on this host, got true. Install bubblewrap socat (Debian, Ubuntu: apt-get install bubblewrap socat), or run commands with your user's permissions: isolation: { sandbox: { enabled: false } }.",
    });
    await expect(checkOnLinux(createPrograms({ bwrap: "exit 0" }))).rejects.toThrow(
      ". Install socat (Debian",
    );
  });

  test("quotes the kernel's error", async () => {
    const failing = "echo 'bwrap: Creating new namespace failed' >&2; exit 1";
    await expect(checkOnLinux(createPrograms({ bwrap: failing, socat: "" }))).rejects.toThrow(
      "Allow this user to create namespaces (bubblewrap: bwrap: Creating new namespace failed), or",
    );
  });

  test.runIf(existsSync("/usr/bin/bwrap"))("passes with the installed bubblewrap", async () => {
    const socat = createPrograms({ socat: "" });
    const folder = temporaryTree();
    symlinkSync("/usr/bin/bwrap", join(folder, "bwrap"));
    await expect(checkOnLinux(`${folder}:${socat}`)).resolves.toBeUndefined();
  });

  test("checks nothing on other platforms", async () => {
    const check = checkSandboxStarts("", { platform: "darwin" });
    await expect(check).resolves.toBeUndefined();
  });

  test("has the same message as createSandboxError(), which quotes the SDK", () => {
    expect(createSandboxError("\nSandbox required but unavailable: rg is missing\n").message).toBe(
      "isolation.sandbox.enabled must be false unless the sandbox starts on this host, got true. Resolve the problem that the SDK reports (Sandbox required but unavailable: rg is missing), or run commands with your user's permissions: isolation: { sandbox: { enabled: false } }.",
    );
  });
});
