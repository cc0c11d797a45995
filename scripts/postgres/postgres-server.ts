import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { isAlive, readProcessStat } from "../../src/host/process-identity.ts";

const execute = promisify(execFile);

/** Where a PostgreSQL server is, so that another process can restart it. */
export interface PostgresPlace {
  /** The folder with its programs, such as `/usr/lib/postgresql/17/bin`. */
  readonly programs: string;
  /** Its data folder, which belongs to the user who runs it. The folder above it is removed with the server. */
  readonly data: string;
  /** Its address for clients. */
  readonly url: string;
}

/** A PostgreSQL server on a data folder that is configured for it. It keeps its port when it is restarted. */
export class PostgresServer implements AsyncDisposable {
  readonly place: PostgresPlace;
  readonly #pidFile: string;

  constructor(place: PostgresPlace) {
    this.place = place;
    this.#pidFile = join(place.data, "postmaster.pid");
  }

  /** Starts the server. Resolves when it accepts connections. */
  async start(): Promise<void> {
    const log = join(dirname(this.place.data), "log");
    try {
      await this.#control("start", "--log", log);
    } catch (cause) {
      const lines = await readFile(log, "utf8").catch(() => String(cause));
      throw new Error(`it did not start: ${lines.trimEnd().split("\n").at(-1)}`, { cause });
    }
  }

  /** Ends all processes of the server with SIGKILL. Resolves when they have ended. */
  async crash(): Promise<void> {
    const postmaster = await this.#findPostmaster();
    if (postmaster === null) return;
    process.kill(postmaster, "SIGSTOP"); // it starts no more processes
    const pids = [...listChildren(postmaster), postmaster];
    for (const pid of pids) kill(pid);
    while (pids.some((pid) => isAlive(pid, () => true))) await sleep(5);
    await rm(this.#pidFile, { force: true }); // PostgreSQL takes a process that has ended but was not yet waited for as running
  }

  /** Crashes the server and starts it again on the same port. */
  async restart(): Promise<void> {
    await this.crash();
    await this.start();
  }

  /** Stops the server without a checkpoint, and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#control("stop", "--mode", "immediate").catch(() => this.crash());
    await rm(dirname(this.place.data), { recursive: true, force: true, maxRetries: 5 });
  }

  async #control(...words: readonly string[]): Promise<void> {
    const { data, programs } = this.place;
    const { uid, gid } = await stat(data);
    const place = ["--pgdata", data, "--wait", "--silent"];
    await execute(join(programs, "pg_ctl"), [...words, ...place], { uid, gid, cwd: data });
  }

  /** Returns the pid of the server's first process, or `null` if it does not run. */
  async #findPostmaster(): Promise<number | null> {
    const text = await readFile(this.#pidFile, "utf8").catch(() => "");
    const pid = Number.parseInt(text, 10);
    return Number.isNaN(pid) || !isAlive(pid, () => true) ? null : pid;
  }
}

function listChildren(parent: number): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => !Number.isNaN(pid) && readProcessStat(pid)?.parent === parent);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}
