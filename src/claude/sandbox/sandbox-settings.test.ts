import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type IsolationConfig, withDomains } from "../isolation.ts";
import { permissionModes } from "../permissions.ts";
import { needsSandbox, type SandboxedRun, sandboxOptions } from "./sandbox-settings.ts";

/** A run in real folders, with what differs. */
function run(more: Partial<SandboxedRun> = {}): SandboxedRun {
  const folder = temporaryTree({ home: null, tmp: null, work: null, real: null });
  return {
    isolation: {},
    mode: "dontAsk",
    native: ["Bash", "Read"],
    workspace: join(folder, "work"),
    home: join(folder, "home"),
    temporary: join(folder, "tmp"),
    auth: {
      kind: "authToken",
      variables: { ANTHROPIC_AUTH_TOKEN: "secret" },
      handed: null,
      secrets: ["secret"],
    },
    host: { HOME: join(folder, "real") },
    ...more,
  };
}

describe("the sandbox of a run", () => {
  test("binds commands to the workspace, hides homes and secrets, and has no way out", () => {
    const one = run();
    expect(sandboxOptions(one).sandbox).toEqual({
      enabled: true,
      failIfUnavailable: true,
      allowUnsandboxedCommands: false,
      autoAllowBashIfSandboxed: true,
      excludedCommands: [],
      network: { allowedDomains: [], strictAllowlist: true },
      filesystem: {
        denyRead: expect.arrayContaining([one.host?.["HOME"], one.home, realpathSync(tmpdir())]),
        allowRead: [one.workspace, one.temporary],
        allowWrite: [],
      },
      credentials: {
        envVars: [
          { name: "ANTHROPIC_AUTH_TOKEN", mode: "deny" },
          { name: "CLAUDE_CODE_MESSAGING_TOKEN", mode: "deny" },
        ],
      },
    });
    expect(JSON.stringify(sandboxOptions(one))).not.toContain("secret");
  });

  test("is widened by what the config says", () => {
    const isolation: IsolationConfig = {
      networkPolicy: withDomains("pypi.org"),
      sandbox: {
        readablePaths: ["/opt/data"],
        writablePaths: ["/opt/out"],
        excludedCommands: ["docker *"],
        allowUnsandboxedCommands: true,
      },
    };
    const one = run({ isolation });
    expect(sandboxOptions(one).sandbox).toMatchObject({
      allowUnsandboxedCommands: true,
      excludedCommands: ["docker *"],
      network: { allowedDomains: ["pypi.org"] },
      filesystem: {
        allowRead: [one.workspace, one.temporary, "/opt/data"],
        allowWrite: ["/opt/out"],
      },
    });
  });

  test.each(permissionModes)("in mode %s lets commands run unasked or not", (mode) => {
    const autoAllowBashIfSandboxed = mode === "dontAsk" || mode === "bypassPermissions";
    expect(sandboxOptions(run({ mode })).sandbox).toMatchObject({ autoAllowBashIfSandboxed });
  });

  test("is there only for commands, and unless it was switched off", () => {
    const off = run({ isolation: { sandbox: { enabled: false } } });
    const silent = run({ native: ["Read"] });
    for (const one of [off, silent]) {
      expect(needsSandbox(one)).toBe(false);
      expect(sandboxOptions(one)).not.toHaveProperty("sandbox");
    }
    expect(needsSandbox(run())).toBe(true);
  });

  test("comes with settings under which no classifier decides what may be read", () => {
    const attribution = { commit: "", pr: "" };
    const settings = {
      attribution,
      useAutoModeDuringPlan: false,
      permissions: { disableAutoMode: "disable" },
    };
    expect(sandboxOptions(run()).settings).toEqual(settings);
    expect(sandboxOptions(run({ native: [] }))).toEqual({ settings });
  });

  test("hides each folder once, by its real path, and none that is not there", () => {
    const folder = temporaryTree({ home: null });
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const hidden = (host: Record<string, string>) =>
      JSON.stringify(sandboxOptions(run({ home: join(folder, "home"), host })).sandbox);
    expect(hidden({ HOME: join(folder, "link") })).toContain(`"${join(folder, "real")}"`);
    expect(hidden({ HOME: join(folder, "gone") })).not.toContain("gone");
    expect(hidden({ HOME: "/" })).not.toContain('"/"');
    expect(hidden({})).toContain(`"${join(folder, "home")}"`);
  });
});
