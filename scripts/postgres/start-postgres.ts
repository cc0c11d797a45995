import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { globSync } from "node:fs";
import { appendFile, chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PostgresServer } from "./postgres-server.ts";

const execute = promisify(execFile);

/** Returns the folder with the programs of Debian's newest PostgreSQL, or `null` if it is not installed. */
export function findPostgresPrograms(): string | null {
  const folders = globSync("/usr/lib/postgresql/*/bin");
  const byVersion = new Intl.Collator("en", { numeric: true }).compare;
  return folders.sort(byVersion).at(-1) ?? null;
}

/**
 * Starts a PostgreSQL server that is empty, in a temporary folder, on a free port of 127.0.0.1. Its user `wink` needs
 * no password. PostgreSQL refuses to run as root, so root runs it as the user postgres, or nobody. Dispose it.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error("install postgresql");
  const folder = await mkdtemp(join(tmpdir(), "wink-postgres-"));
  try {
    const owner = await findOwner();
    if (owner) await chown(folder, owner.uid, owner.gid);
    const data = join(folder, "data");
    const options = ["-D", data, "-A", "trust", "-U", "wink", "-E", "UTF8", "--locale", "C", "-N"];
    await execute(join(programs, "initdb"), options, { ...owner, cwd: folder });
    const port = await findFreePort();
    await appendFile(join(data, "postgresql.conf"), formatSettings(port));
    const url = `postgres://wink@127.0.0.1:${port}/postgres`;
    const server = new PostgresServer({ programs, data, url });
    await server.start();
    return server;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the user who runs the server, or `null` for the current one. */
async function findOwner(): Promise<{ readonly uid: number; readonly gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const ask = async (flag: string, user: string) =>
    Number((await execute("id", [flag, user])).stdout);
  const user = await ask("-u", "postgres").then(
    () => "postgres",
    () => "nobody",
  );
  return { uid: await ask("-u", user), gid: await ask("-g", user) };
}

/** Shared memory is in the data folder, so that nothing is left of a server that is killed. */
function formatSettings(port: number): string {
  return `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
max_connections = 200
dynamic_shared_memory_type = mmap
`;
}

/** Returns a port below those that systems assign on their own, so that it is still free when the server restarts. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return await promise;
}
