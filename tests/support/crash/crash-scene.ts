import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalRequest } from "../../../src/adapter/approvals/approval-request.ts";
import { CrashLedger } from "./crash-ledger.ts";
import type { CrashOrder, CrashPoint } from "./crash-order.ts";

const script = fileURLToPath(new URL("./crash-main.ts", import.meta.url));

/** Which adapter and store a scene uses. */
export type CrashSceneOptions = Pick<CrashOrder, "adapter" | "store"> & {
  readonly details?: Readonly<Record<string, string>>;
};

/**
 * One run that may be killed and resumed, each time in a new process. Example: `crashAt({ at: "barrier
 * turn-completed" })`, then `finish()`, then look at `ledger` and the answer.
 */
export class CrashScene implements AsyncDisposable {
  readonly ledger: CrashLedger;
  /** Holds everything of the scene. */
  readonly folder: string;
  readonly #options: CrashSceneOptions;

  private constructor(folder: string, options: CrashSceneOptions) {
    this.folder = folder;
    this.#options = options;
    this.ledger = new CrashLedger(folder);
  }

  static async create(options: CrashSceneOptions): Promise<CrashScene> {
    return new CrashScene(await mkdtemp(join(tmpdir(), "wink-crash-")), options);
  }

  /** Starts or resumes the run in a new process, which kills itself at the point. */
  async crashAt(point: CrashPoint): Promise<void> {
    const { signal, errorOutput } = await this.#run(point);
    if (signal === "SIGKILL") return;
    throw new Error(`The process did not reach ${JSON.stringify(point)}. ${errorOutput}`);
  }

  /** Starts or resumes the run in a new process, and returns the response as JSON. */
  async finish(
    approvals: CrashOrder["approvals"] = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    return await this.#runToEnd("answer.json", approvals);
  }

  /** Starts or resumes the run in a new process, and returns the calls that it parks. */
  async park(): Promise<readonly ApprovalRequest[]> {
    return await this.#runToEnd("parked.json");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Returns the content of the file that the process writes at its end. */
  async #runToEnd(name: string, approvals: CrashOrder["approvals"] = {}) {
    const { code, errorOutput } = await this.#run(null, approvals);
    const path = join(this.folder, name);
    if (code !== 0 || !existsSync(path)) throw new Error(`The run failed. ${errorOutput}`);
    return JSON.parse(readFileSync(path, "utf8"));
  }

  async #run(point: CrashPoint | null, approvals: CrashOrder["approvals"] = {}) {
    const { folder } = this;
    const order: CrashOrder = { details: {}, ...this.#options, folder, point, approvals };
    const child = spawn(process.execPath, [script, JSON.stringify(order)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errorOutput = "";
    child.stderr.on("data", (text) => {
      errorOutput += text;
    });
    await once(child, "close");
    return { signal: child.signalCode, code: child.exitCode, errorOutput };
  }
}
