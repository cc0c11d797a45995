import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { AgentLoop, type EnqueuedRun, type Run } from "../../../../src/fleet/index.ts";
import { isOver } from "../../../../src/fleet/run.ts";
import { scriptedClient } from "../../../../src/testing/index.ts";
import { CrashLedger } from "../../crash/crash-ledger.ts";
import type { CrashPoint } from "../../crash/crash-order.ts";
import type { CrashSceneOptions } from "../../crash/crash-scene.ts";
import { openTestFleet, type TestFleet } from "../fleet-fixture.ts";
import { crashRequest, type FleetCrashOrder } from "./fleet-crash-order.ts";

const script = fileURLToPath(new URL("./fleet-crash-main.ts", import.meta.url));

/** One run of a fleet on PostgreSQL whose workers may be killed, each in its own process. */
export class FleetCrashScene implements AsyncDisposable {
  readonly ledger: CrashLedger;
  readonly folder: string;
  readonly #options: Omit<CrashSceneOptions, "store">;
  readonly #test: TestFleet;
  readonly #run: EnqueuedRun;

  private constructor(
    folder: string,
    options: Omit<CrashSceneOptions, "store">,
    test: TestFleet,
    run: EnqueuedRun,
  ) {
    this.folder = folder;
    this.ledger = new CrashLedger(folder);
    this.#options = options;
    this.#test = test;
    this.#run = run;
  }

  static async create(options: Omit<CrashSceneOptions, "store">): Promise<FleetCrashScene> {
    const folder = await mkdtemp(join(tmpdir(), "wink-fleet-crash-"));
    const test = await openTestFleet("postgres");
    // Only the name and the schema count: other processes run it.
    const loop = new AgentLoop<object, string, string, object>({
      name: "crash",
      request: crashRequest,
      prepare: () => Promise.reject(new Error("This process runs nothing.")),
      adapter: scriptedClient(),
    });
    return new FleetCrashScene(folder, options, test, await test.fleet.enqueue(loop, {}));
  }

  /** Starts a worker, which kills itself at the point. */
  async crashAt(point: CrashPoint): Promise<void> {
    const { child, errors } = this.#start(point);
    const closed = once(child, "close");
    const hasEnded = async () => child.signalCode !== null || isOver((await this.find()).state);
    await expect.poll(hasEnded, { timeout: 60_000, interval: 50 }).toBe(true);
    const settled = await Promise.race([closed, sleep(5_000)]); // the point may be after the end
    child.kill("SIGTERM");
    await closed;
    if (settled && child.signalCode === "SIGKILL") return;
    throw new Error(`The worker did not reach ${JSON.stringify(point)}. ${errors()}`);
  }

  /** Starts a worker that finishes the run, and returns the result. Approves calls that wait for it. */
  async finish(): Promise<Readonly<Record<string, unknown>>> {
    const { child, errors } = this.#start(null);
    const closed = once(child, "close");
    const { fleet } = this.#test;
    const { id } = this.#run;
    try {
      const isStarted = async () => (await fleet.workers()).some(({ pid }) => pid === child.pid);
      await expect.poll(isStarted, { interval: 50 }).toBe(true);
      const hasEnded = async () => {
        const { state, approvals } = await this.find();
        const parked = state === "parked" ? approvals : [];
        for (const { key } of parked) await fleet.approve(id, key, "approve");
        return isOver(state);
      };
      await expect.poll(hasEnded, { timeout: 60_000, interval: 50 }).toBe(true);
      return (await fleet.result(id)) as Readonly<Record<string, unknown>>;
    } finally {
      child.kill("SIGTERM");
      const [code] = await closed;
      expect(code, errors()).toBe(0);
    }
  }

  /** Returns the run as it is now. */
  async find(): Promise<Run> {
    const run = await this.#test.fleet.find(this.#run.id);
    if (!run) throw new Error("The run is lost.");
    return run;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#test[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }

  #start(point: CrashPoint | null) {
    const { folder } = this;
    const order: FleetCrashOrder = {
      details: {},
      store: "jsonl",
      ...this.#options,
      folder,
      point,
      fleet: this.#test.options,
    };
    const child = spawn(process.execPath, [script, JSON.stringify(order)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (text) => {
      errors += text;
    });
    return { child, errors: () => errors };
  }
}
