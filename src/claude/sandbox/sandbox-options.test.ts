import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type IsolationConfig, withDomains } from "../isolation.ts";
import { permissionModes } from "../permissions.ts";
import { needsSandbox, type SandboxedRun, toSandboxOptions } from "./sandbox-options.ts";

/** Creates a run in real folders, with overrides. */
function createRun(more: Partial<SandboxedRun> = {}): SandboxedRun {
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
      pipedSecret: null,
      secrets: ["secret"],
    },
    host: { HOME: join(folder, "real") },
    ...more,
  };
}

describe("toSandboxOptions()", () => {
  test("limits commands to the workspace, hides home folders and secrets, and blocks the network", () => {
    const run = createRun();
    expect(toSandboxOptions(run).sandbox).toEqual({
      enabled: true,
      failIfUnavailable: true,
      allowUnsandboxedCommands: false,
      autoAllowBashIfSandboxed: true,
      excludedCommands: [],
      network: { allowedDomains: [], strictAllowlist: true },
      filesystem: {
        denyRead: expect.arrayContaining([run.host?.["HOME"], run.home, realpathSync(tmpdir())]),
        allowRead: [run.workspace, run.temporary],
        allowWrite: [],
      },
      credentials: {
        envVars: [
          { name: "ANTHROPIC_AUTH_TOKEN", mode: "deny" },
          { name: "CLAUDE_CODE_MESSAGING_TOKEN", mode: "deny" },
        ],
      },
    });
    expect(JSON.stringify(toSandboxOptions(run))).not.toContain("secret");
  });

  test("adds the paths, hosts and commands of the config", () => {
    const isolation: IsolationConfig = {
      networkPolicy: withDomains("pypi.org"),
      sandbox: {
        readablePaths: ["/opt/data"],
        writablePaths: ["/opt/out"],
        excludedCommands: ["docker *"],
        allowUnsandboxedCommands: true,
      },
    };
    const run = createRun({ isolation });
    expect(toSandboxOptions(run).sandbox).toMatchObject({
      allowUnsandboxedCommands: true,
      excludedCommands: ["docker *"],
      network: { allowedDomains: ["pypi.org"] },
      filesystem: {
        allowRead: [run.workspace, run.temporary, "/opt/data"],
        allowWrite: ["/opt/out"],
      },
    });
  });

  test.each(permissionModes)("allows commands automatically or not in mode %s", (mode) => {
    const autoAllowBashIfSandboxed = mode === "dontAsk" || mode === "bypassPermissions";
    expect(toSandboxOptions(createRun({ mode })).sandbox).toMatchObject({
      autoAllowBashIfSandboxed,
    });
  });

  test("sets a sandbox only for runs with commands, unless it is disabled", () => {
    const off = createRun({ isolation: { sandbox: { enabled: false } } });
    const withoutBash = createRun({ native: ["Read"] });
    for (const run of [off, withoutBash]) {
      expect(needsSandbox(run)).toBe(false);
      expect(toSandboxOptions(run)).not.toHaveProperty("sandbox");
    }
    expect(needsSandbox(createRun())).toBe(true);
  });

  test("disables the classifier that would allow reading other files", () => {
    const attribution = { commit: "", pr: "" };
    const settings = {
      attribution,
      useAutoModeDuringPlan: false,
      permissions: { disableAutoMode: "disable" },
    };
    expect(toSandboxOptions(createRun()).settings).toEqual(settings);
    expect(toSandboxOptions(createRun({ native: [] }))).toEqual({ settings });
  });

  test("hides each existing folder once, by its real path", () => {
    const folder = temporaryTree({ home: null });
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const listHidden = (host: Record<string, string>) =>
      JSON.stringify(toSandboxOptions(createRun({ home: join(folder, "home"), host })).sandbox);
    expect(listHidden({ HOME: join(folder, "link") })).toContain(`"${join(folder, "real")}"`);
    expect(listHidden({ HOME: join(folder, "missing") })).not.toContain("missing");
    expect(listHidden({ HOME: "/" })).not.toContain('"/"');
    expect(listHidden({})).toContain(`"${join(folder, "home")}"`);
  });
});
