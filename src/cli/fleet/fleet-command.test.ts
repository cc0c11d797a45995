import { afterEach, describe, expect, test, vi } from "vitest";
import { runFleetCommand } from "../../../tests/support/fleet/run-fleet-command.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { FleetError } from "../../fleet/fleet-error.ts";
import { toFleetFlagError } from "./to-fleet-flag-error.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const COMMANDS = ["ls", "show", "cancel", "retry", "approve", "worker", "drain"];

describe("wink fleet", () => {
  test.each(COMMANDS)("%s --help has examples and is a success", async (name) => {
    const { out, code } = await runFleetCommand(name, "--help");
    expect(out).toContain(`Examples:\n  wink fleet ${name}`);
    expect(out).toContain("--debug");
    expect(code).toBe(0);
  });

  test.each([
    [["ls", "--state", "lost"], "Allowed choices are waiting, running, parked, done,"],
    [["ls", "--limit", "0"], "Use a positive integer."],
    [["ls", "--folder", "a", "--postgres", "b"], "--folder and --postgres cannot be used together"],
    [["show"], "missing required argument 'run'"],
    [["show", "xyz1"], "Use the id of a run, or at least its first 4 characters."],
    [["show", "3f2a", "--folow"], "(run wink fleet show --help for its options and examples)"],
    [["retry"], "pass either a run or --state"],
    [["retry", "3f2a", "--state", "failed"], "pass either a run or --state"],
    [["retry", "--state", "done"], "Allowed choices are dead-lettered, failed, cancelled."],
    [["retry", "3f2a", "--loop", "a"], "--loop must be used together with --state"],
    [["worker"], "missing required argument 'files'"],
    [["worker", "a.mts", "--grace", "0"], "Use a positive number of seconds."],
    [["drain", "all"], "Use a positive integer."],
    [["stop"], "unknown command 'stop'"],
  ])("exits with 2 for %j", async (args, problem) => {
    const { err, code } = await runFleetCommand(...args);
    expect(err).toContain(problem);
    expect(code).toBe(2);
  });

  test("exits with 2 without a fleet", async () => {
    vi.stubEnv("WINK_FLEET_POSTGRES", "");
    const { err, code } = await runFleetCommand("ls");
    expect(err).toContain(
      "there is no folder .wink/fleet here. Use --folder, --postgres or WINK_FLEET_POSTGRES",
    );
    expect(code).toBe(2);
  });

  test("exits with 1 for a folder without a fleet, and creates none", async () => {
    vi.stubEnv("WINK_FLEET_POSTGRES", "postgres://not-used.example/");
    const folder = temporaryTree({ "a.txt": "" });
    for (const args of [["ls"], ["worker", "tests/support/fleet/cli-loops.ts"]]) {
      const { err, code } = await runFleetCommand(...args, "--folder", folder);
      expect(err).toContain(
        `There is no fleet in ${folder}. Enqueue a run there first, or use another`,
      );
      expect(code).toBe(1);
    }
  });

  test.each([
    ["--postgres", ["--postgres", "mysql://me:secret@h/db"], {}],
    ["WINK_FLEET_POSTGRES", [], { WINK_FLEET_POSTGRES: "mysql://me:secret@h/db" }],
  ])(
    "exits with 1 for an address in %s that is not one of PostgreSQL, without its password",
    async (name, args, env) => {
      for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
      const { err, code } = await runFleetCommand("ls", ...args);
      expect(err).toContain(`error: ${name} must be a URL that starts with postgres://`);
      expect(err).not.toContain("secret@");
      expect(code).toBe(1);
    },
  );

  test("exits with 1 if PostgreSQL does not run, without its password", async () => {
    const { err, code } = await runFleetCommand(
      "ls",
      "--postgres",
      "postgres://me:pass@127.0.0.1:1/db",
    );
    expect(err).toMatch(/^error: PostgreSQL at 127\.0\.0\.1:1\/db cannot be used: /);
    expect(err).not.toContain("pass");
    expect(code).toBe(1);
  });

  test("exits with 1 for a worker without loops", async () => {
    const { err, code } = await runFleetCommand("worker", "nowhere.mts", "--folder", "x");
    expect(err).toContain('FILE must be an existing file, got "nowhere.mts"');
    expect(code).toBe(1);
  });

  test("prints its commands, and exits with 2, if none is named", async () => {
    const { err, code } = await runFleetCommand();
    expect(err).toContain("Usage: wink fleet [options] [command]");
    expect(code).toBe(2);
  });
});

describe("toFleetFlagError()", () => {
  const choice = { source: "--postgres" } as const;

  test.each([
    ["Fleet.open(schema)", "--schema"],
    ["Fleet.cancel(reason)", "--reason"],
    ["Fleet.worker(loops)", "FILE"],
    ["Fleet.runs(state)", "Fleet.runs(state)"],
  ])("names %s as %s", (field, name) => {
    const refusal = { field, value: 1, rule: "must be text", remedy: "use text" };
    const error = toFleetFlagError(new InvalidOptionError(refusal), choice);
    expect(error).toMatchObject({ field: name });
  });

  test("describes errors of the database, and leaves the others as they are", () => {
    const refused = Object.assign(new Error("permission denied for schema wink"), {
      code: "42501",
    });
    expect(toFleetFlagError(refused, choice)).toMatchObject({
      name: "WinkError",
      cause: refused,
      message:
        "The database of the fleet refused a statement: permission denied for schema wink. " +
        "Check the server, and the rights of its user on the schema.",
    });
    const lost = new Error("Connection terminated unexpectedly");
    expect(toFleetFlagError(lost, choice)).toBeInstanceOf(WinkError);
    const others = [
      new TypeError("bug"),
      new FleetError("x"),
      Object.assign(new Error("a"), { code: "ERR_A" }),
      "text",
    ];
    for (const error of others) expect(toFleetFlagError(error, choice)).toBe(error);
  });
});
