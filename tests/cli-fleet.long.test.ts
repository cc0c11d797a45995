import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fleetDatabases } from "./support/fleet/fleet-fixture.ts";

const LOOPS = resolve("tests/support/fleet/cli-loops.ts");

let folder = "";
let schema = "";
let env: NodeJS.ProcessEnv = {};
const children = new Set<ChildProcess>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wink-test-"));
  schema = `cli_${crypto.randomUUID().slice(0, 8)}`;
  env = { ...process.env, HOME: folder, FORCE_COLOR: undefined, WINK_FLEET_POSTGRES: undefined };
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(
    [...children].map(async (child) => isRunning(child) && (await once(child, "exit"))),
  );
  children.clear();
  rmSync(folder, { recursive: true, force: true });
  if (env["WINK_FLEET_POSTGRES"] === undefined) return;
  const pool = new Pool({ connectionString: env["WINK_FLEET_POSTGRES"] });
  await pool.query(`drop schema if exists "${schema}" cascade`);
  await pool.query(`drop schema if exists "${schema}_pgboss" cascade`);
  await pool.end();
});

for (const [database, kind, isAvailable] of fleetDatabases) {
  const options = () =>
    kind === "folder"
      ? { folder: join(folder, ".wink/fleet") }
      : { postgres: env["WINK_FLEET_POSTGRES"], schema };
  const flags = () => (kind === "folder" ? [] : ["--schema", schema]);

  describe.skipIf(!isAvailable)(`wink fleet as a command, on ${database}`, () => {
    beforeEach(() => {
      if (kind === "postgres") env["WINK_FLEET_POSTGRES"] = process.env["WINK_POSTGRES"];
    });

    test("a worker runs requests of another program, and SIGTERM drains it", {
      timeout: 300_000,
    }, async () => {
      const [done = "", slow = ""] = await enqueue(options(), "review", "slow");
      const module = join(folder, "loops.mts");
      writeFileSync(module, `export { review, others as default } from ${JSON.stringify(LOOPS)};`);
      const worker = start("worker", "loops.mts", "--grace", "8", ...flags());
      await expect
        .poll(() => worker.read(), { timeout: 120_000 })
        .toMatch(`run ${slow.slice(0, 8)} slow started\n`);
      await expect.poll(() => worker.read()).toMatch(`run ${done.slice(0, 8)} review done in `);
      const listed = start("ls", ...flags());
      const code = await listed.ended;
      if (kind === "folder") {
        expect(listed.read()).toMatch(
          new RegExp(
            `^error: The fleet in .* is open in process ${worker.child.pid} on .*\\. Close it there first, .*\\n\\(if that is a worker, see its output, or stop it and run this command again\\)\\n$`,
          ),
        );
        expect(code).toBe(1);
      } else {
        expect(listed.read()).toMatch(/slow\/1 {4}running/);
        expect(code).toBe(0);
      }
      worker.child.kill("SIGTERM");
      expect(await worker.ended).toBe(0);
      expect(worker.read()).toMatch(/drains: 1 run to give back\n.*slow given back after /);
      expect(worker.read()).not.toContain("\u001b[");
      const left = start("ls", "--json", "--state", "waiting", ...flags());
      expect(await left.ended).toBe(0);
      expect(JSON.parse(left.read())).toMatchObject({ id: slow, attempt: 1, worker: null });
      const shown = start("show", done.slice(0, 4), ...flags());
      expect({ code: await shown.ended, text: shown.read() }).toMatchObject({
        code: 0,
        text: expect.stringContaining("\nResult\nAll"),
      });
    });

    test("a second signal ends a worker at once", { timeout: 300_000 }, async () => {
      await enqueue(options(), "stubborn");
      const worker = start("worker", LOOPS, "--json", "--grace", "300", ...flags());
      await expect.poll(() => worker.read(), { timeout: 120_000 }).toContain("The tool waits.");
      worker.child.kill("SIGINT");
      await expect.poll(() => worker.read()).toContain("WorkerDraining");
      // Signals within 100 ms count as one.
      const sendAgain = () => {
        worker.child.kill("SIGINT");
        return isRunning(worker.child);
      };
      await expect.poll(sendAgain, { interval: 150 }).toBe(false);
      expect(worker.child.signalCode).toBe("SIGINT");
    });

    test("a missing package is an error with the command that installs it", {
      timeout: 300_000,
    }, async () => {
      await enqueue(options());
      const names = kind === "folder" ? ["@electric-sql/pglite", "pg-boss"] : ["pg", "pg-boss"];
      for (const name of names) {
        const hidden = start({ hide: name }, "ls", ...flags());
        expect(await hidden.ended).toBe(1);
        expect(hidden.read()).toMatch(new RegExp(`^error: .* Run npm install ${name}\\.\\n$`));
      }
    });
  });
}

describe.skipIf(process.env["WINK_POSTGRES"] === undefined)(
  "wink fleet worker on PostgreSQL",
  () => {
    beforeEach(() => {
      env["WINK_FLEET_POSTGRES"] = process.env["WINK_POSTGRES"];
    });

    test("ends when it is drained, also if its module keeps the process alive, and works without a reader", async () => {
      const module = join(folder, "loops.mts");
      writeFileSync(
        module,
        `setInterval(() => {}, 1_000);\nexport * from ${JSON.stringify(LOOPS)};`,
      );
      const worker = start("worker", "loops.mts", "--schema", schema);
      await expect.poll(() => worker.read(), { timeout: 60_000 }).toContain("worker 1 started");
      worker.child.stdout?.destroy();
      const [id = ""] = await enqueue({ postgres: env["WINK_FLEET_POSTGRES"], schema }, "review");
      const followed = start("show", id, "--follow", "--schema", schema);
      expect(await followed.ended).toBe(0);
      expect(followed.read()).toMatch(/answer after 2 turns\n[\s\S]*\nResult\nAll/);
      const drained = start("drain", "--wait", "--schema", schema);
      expect({ code: await drained.ended, text: drained.read() }).toEqual({
        code: 0,
        text: "1 worker was asked to drain.\n1 worker has ended.\n",
      });
      expect(await worker.ended).toBe(0);
    });

    test("a reader that closes the pipe ends a list without an error", async () => {
      await enqueue({ postgres: env["WINK_FLEET_POSTGRES"], schema }, "review");
      const command = `"${process.execPath}" "${resolve("src/cli/main.ts")}" fleet ls --schema ${schema} | head -n 1`;
      const child = spawn("sh", ["-c", command], { env, cwd: folder });
      const piped = watch(child);
      expect({ code: await piped.ended, text: piped.read() }).toEqual({
        code: 0,
        text: expect.stringMatching(/^ID .*\n$/),
      });
    });
  },
);

/** A running program and its output. */
interface Program {
  readonly child: ChildProcess;
  read(): string;
  readonly ended: Promise<number | null>;
}

/** Starts a command of `wink fleet` in the test's folder. `hide` is a package that it cannot find. */
function start(...args: readonly (string | { readonly hide: string })[]): Program {
  const words = args.filter((arg) => typeof arg === "string");
  const hidden = args.find((arg) => typeof arg === "object");
  const hooks = hidden ? ["--import", createHook(hidden.hide)] : [];
  const main = resolve("src/cli/main.ts");
  return watch(spawn(process.execPath, [...hooks, main, "fleet", ...words], { env, cwd: folder }));
}

function watch(child: ChildProcess): Program {
  children.add(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data) => {
      text += String(data);
    });
  }
  const ended = once(child, "close").then(([code]: (number | null)[]) => code ?? null);
  return { child, read: () => text, ended };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode === null && signalCode === null;

/** Returns a module that makes a package look as if it were not installed. */
function createHook(name: string): string {
  const code = `import { registerHooks } from "node:module";
registerHooks({ resolve(specifier, context, next) {
  if (specifier !== ${JSON.stringify(name)}) return next(specifier, context);
  throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
} });`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** Enqueues runs in another process. Returns their ids. */
async function enqueue(options: object, ...names: readonly string[]): Promise<readonly string[]> {
  const main = resolve("tests/support/fleet/cli-enqueue-main.ts");
  const child = watch(spawn(process.execPath, [main, JSON.stringify(options), ...names], { env }));
  expect({ code: await child.ended, text: child.read() }).toMatchObject({ code: 0 });
  return child.read().trim().split("\n");
}
