import { chmodSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { checkSandboxStarts, sandboxRefusal } from "./prepare-sandbox.ts";

/** A folder of programs that do what their script says. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const folder = temporaryTree();
  const files = Object.entries(scripts).map(([name, script]) => [name, `#!/bin/sh\n${script}\n`]);
  const made = temporaryTree(Object.fromEntries(files));
  for (const name of Object.keys(scripts)) chmodSync(join(made, name), 0o755);
  return `${folder}::${made}`;
}

const check = (path: string) => checkSandboxStarts(path, { platform: "linux" });

describe("before a run whose commands are bound", () => {
  test("nothing is said where the sandbox starts", async () => {
    await expect(check(programs({ bwrap: "exit 0", socat: "exit 0" }))).resolves.toBeUndefined();
  });

  test("programs that are missing are named, with what to install and how to do without", async () => {
    await expect(check(programs({}))).rejects.toMatchObject({
      name: "InvalidOptionError",
      field: "isolation.sandbox.enabled",
      message:
        "isolation.sandbox.enabled needs a sandbox that starts on this machine, got true. Install bubblewrap socat (Debian, Ubuntu: apt-get install bubblewrap socat), or let commands do all that your user may: isolation: { sandbox: { enabled: false } }",
    });
    await expect(check(programs({ bwrap: "exit 0" }))).rejects.toThrow(": install socat (Debian");
  });

  test("what the kernel refuses is quoted", async () => {
    const refusing = "echo 'bwrap: Creating new namespace failed' >&2; exit 1";
    await expect(check(programs({ bwrap: refusing, socat: "" }))).rejects.toThrow(
      "let this user make namespaces (bubblewrap said: bwrap: Creating new namespace failed), or",
    );
  });

  test.runIf(existsSync("/usr/bin/bwrap"))(
    "the real bubblewrap takes what it is asked",
    async () => {
      const socat = programs({ socat: "" });
      const folder = temporaryTree();
      symlinkSync("/usr/bin/bwrap", join(folder, "bwrap"));
      await expect(check(`${folder}:${socat}`)).resolves.toBeUndefined();
    },
  );

  test("nothing is looked for on another system, whose sandbox is its own", async () => {
    const elsewhere = checkSandboxStarts("", { platform: "darwin" });
    await expect(elsewhere).resolves.toBeUndefined();
  });

  test("what the SDK finds as it starts reads the same", () => {
    expect(sandboxRefusal("\nSandbox required but unavailable: rg is missing\n").message).toBe(
      "isolation.sandbox.enabled needs a sandbox that starts on this machine, got true. See to what the SDK says (Sandbox required but unavailable: rg is missing), or let commands do all that your user may: isolation: { sandbox: { enabled: false } }",
    );
  });
});
