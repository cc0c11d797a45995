import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isAlive } from "../src/host/process-identity.ts";
import { findPostgresPrograms, restartPostgres } from "./support/fleet/postgres-server.ts";
import { temporaryTree } from "./support/temporary-tree.ts";

const script = fileURLToPath(new URL("../scripts/with-postgres.ts", import.meta.url));

function runScript(command: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [script, ...command], { env: { ...process.env, ...env } });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      text += String(data);
    });
  }
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, ended, read: () => text };
}

/** A command that prints the process id of the server, and then runs the rest. */
const printPid = 'head -n 1 "$WINK_POSTGRES_DATA/postmaster.pid"; ';

test("with-postgres.ts runs the command with a reason if PostgreSQL does not start, but not in CI", async () => {
  const env = { TMPDIR: "/nowhere", CI: "", WINK_POSTGRES: "" };
  const command = ["sh", "-c", 'echo "<$WINK_POSTGRES>"; exit 3'];
  const outside = runScript(command, env);
  expect(await outside.ended).toBe(3);
  expect(outside.read()).toMatch(/^PostgreSQL is not tested: .*\/nowhere.*\n<>\n$/);
  const inside = runScript(command, { ...env, CI: "true" });
  expect(await inside.ended).toBe(1);
  expect(inside.read()).not.toContain("<");
});

test("with-postgres.ts prints its usage without a command", async () => {
  const { ended, read } = runScript([], {});
  expect(await ended).toBe(2);
  expect(read()).toContain("Usage: node scripts/with-postgres.ts COMMAND");
});

test("restartPostgres() asks for the script if it does not run in it", async () => {
  vi.stubEnv("WINK_POSTGRES_DATA", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(restartPostgres()).rejects.toThrow("run the tests with scripts/with-postgres.ts");
});

describe("with-postgres.ts", () => {
  if (findPostgresPrograms() === null) {
    test.skip("needs PostgreSQL: apt-get install postgresql", () => {});
    return;
  }

  test("gives the command a server on loopback, returns its exit code and leaves nothing", async () => {
    const TMPDIR = temporaryTree();
    const command = `${printPid} echo $WINK_POSTGRES; test -d $WINK_POSTGRES_PROGRAMS; exit 7`;
    const { ended, read } = runScript(["sh", "-c", command], { TMPDIR: openToAll(TMPDIR) });
    expect(await ended).toBe(7);
    expect(read()).toMatch(/^\d+\npostgres:\/\/wink@127\.0\.0\.1:\d+\/postgres\n$/);
    expectNothingLeft(TMPDIR, read());
  });

  test("leaves nothing if the command cannot be started", async () => {
    const TMPDIR = temporaryTree();
    const { ended, read } = runScript(["no-such-program"], { TMPDIR: openToAll(TMPDIR) });
    expect(await ended).toBe(127);
    expect(read()).toContain("no-such-program cannot be started");
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "passes %s on to the command, and leaves nothing",
    async (signal) => {
      const TMPDIR = temporaryTree();
      const command = `${printPid} echo ready; exec sleep 600`;
      const { child, ended, read } = runScript(["sh", "-c", command], {
        TMPDIR: openToAll(TMPDIR),
      });
      await expect.poll(read).toContain("ready");
      child.kill(signal);
      expect(await ended).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
      expectNothingLeft(TMPDIR, read());
    },
  );

  test("stops if the signal arrives before the server has started", async () => {
    const TMPDIR = temporaryTree();
    const { child, ended, read } = runScript(["echo", "ran"], { TMPDIR: openToAll(TMPDIR) });
    await expect.poll(() => readdirSync(TMPDIR)).toHaveLength(1);
    child.kill("SIGTERM");
    expect(await ended).toBe(143);
    expect(read()).not.toContain("ran");
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  test("lets a test restart the server, and stops the new one", async () => {
    const TMPDIR = temporaryTree();
    const main = fileURLToPath(new URL("support/fleet/restart-main.ts", import.meta.url));
    const { ended, read } = runScript([process.execPath, main], { TMPDIR: openToAll(TMPDIR) });
    expect(await ended).toBe(0);
    const [before, after] = read().split("\n");
    expect(after).toMatch(/^\d+$/);
    expect(after).not.toBe(before);
    expectNothingLeft(TMPDIR, `${after}`);
  });
});

/** Lets the user who runs the server enter the folder. */
function openToAll(folder: string): string {
  chmodSync(folder, 0o755);
  return folder;
}

function expectNothingLeft(folder: string, printed: string): void {
  expect(readdirSync(folder)).toEqual([]);
  expect(isAlive(Number.parseInt(printed, 10), () => true)).toBe(false);
}
