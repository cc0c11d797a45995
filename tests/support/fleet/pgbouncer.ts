import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { findFreePort } from "../../../scripts/postgres/start-postgres.ts";

/** A pooler in transaction mode. */
export interface Pgbouncer extends AsyncDisposable {
  readonly url: string;
}

const PROGRAM = "/usr/sbin/pgbouncer";

/**
 * Starts pgbouncer in transaction mode, with two connections to the server at `url`. Returns `null` if it is not
 * installed.
 */
export async function startPgbouncer(url: string): Promise<Pgbouncer | null> {
  if (!existsSync(PROGRAM)) return null;
  const folder = mkdtempSync(join(tmpdir(), "wink-pgbouncer-"));
  chmodSync(folder, 0o755); // pgbouncer runs as another user if the tests run as root
  const port = await findFreePort();
  const { hostname, port: target } = new URL(url);
  writeFileSync(join(folder, "users.txt"), '"wink" ""\n');
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]
postgres = host=${hostname} port=${target} user=wink
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = 2
`,
  );
  const isRoot = process.getuid?.() === 0;
  const options = [...(isRoot ? ["--user=nobody"] : []), "--quiet", join(folder, "pgbouncer.ini")];
  const child = spawn(PROGRAM, options, { stdio: "ignore" });
  const ended = once(child, "exit");
  await expect.poll(() => isListening(port)).toBe(true);
  return {
    url: `postgres://wink@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  return await promise.finally(() => socket.destroy());
}
