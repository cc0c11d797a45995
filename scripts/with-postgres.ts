/**
 * Runs a command with a PostgreSQL server that exists only for it, in a temporary folder, on loopback:
 *   node scripts/with-postgres.ts npx vitest run src/stores/postgres
 * The command finds the server's address in WINK_POSTGRES. WINK_POSTGRES_DATA and WINK_POSTGRES_PROGRAMS let tests
 * restart the server. Without PostgreSQL the command runs too, with a printed reason, except in CI. Nothing is left
 * afterwards.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { PostgresServer } from "./postgres/postgres-server.ts";
import { startPostgres } from "./postgres/start-postgres.ts";

const [program, ...args] = process.argv.slice(2);
const signals: NodeJS.Signals[] = [];
let onSignal = (signal: NodeJS.Signals): void => void signals.push(signal);
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => onSignal(name));

if (program === undefined) {
  report("Usage: node scripts/with-postgres.ts COMMAND [ARGUMENT …]");
  process.exitCode = 2;
} else {
  await using server = await tryStart();
  const mayRun = server !== null || process.env["CI"] !== "true";
  const [early] = signals;
  if (early !== undefined) process.exitCode = toExitCode(early);
  else process.exitCode = mayRun ? await run(program, server) : 1;
}

async function tryStart(): Promise<PostgresServer | null> {
  try {
    return await startPostgres();
  } catch (error) {
    report(`PostgreSQL is not tested: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

/** Runs the command and returns its exit code. Signals are passed on, and it decides when it ends. */
async function run(command: string, server: PostgresServer | null): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const env = { ...process.env, ...(server && describeServer(server)) };
  const child = spawn(command, args, { stdio: "inherit", env });
  onSignal = (signal) => {
    // Ctrl+C in a terminal reaches the command by itself.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  child.once("exit", (code, signal) => resolve(code ?? toExitCode(signal)));
  child.once("error", (error: NodeJS.ErrnoException) => {
    report(`${command} cannot be started: ${error.message}`);
    resolve(error.code === "ENOENT" ? 127 : 126);
  });
  return await promise;
}

function describeServer({ place }: PostgresServer): NodeJS.ProcessEnv {
  return {
    WINK_POSTGRES: place.url,
    WINK_POSTGRES_DATA: place.data,
    WINK_POSTGRES_PROGRAMS: place.programs,
  };
}

function toExitCode(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}
