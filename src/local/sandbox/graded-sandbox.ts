import type { ChosenSandbox } from "./choose-sandbox.ts";
import { combineLimits, type DiskSupport, formatLimits } from "./combine-limits.ts";
import type { LazySandbox } from "./lazy-sandbox.ts";
import { listWatched, requireEnforced } from "./require-enforced.ts";
import type {
  LimitGrade,
  LimitReport,
  Sandbox,
  SandboxOptions,
  SandboxProcess,
} from "./sandbox.ts";

/** Options of {@link GradedSandbox}. */
export interface GradedSandboxOptions {
  readonly sandbox: LazySandbox;
  /** `"enforced"` refuses a sandbox whose limits are only watched. */
  readonly require: LimitGrade;
  /** Finds out whether containers have disks that hold their limit. */
  readonly findDiskSupport: () => Promise<DiskSupport>;
  /** Called once, before code first runs, if the sandbox reports that a limit is only watched. */
  readonly onWatched: (message: string) => void;
}

/** The sandbox of a provider. Before code first runs, it checks how the limits hold. */
export class GradedSandbox implements Sandbox, AsyncDisposable {
  readonly name: string;
  readonly isolation: string;
  readonly #options: GradedSandboxOptions;
  #graded: Promise<LimitReport> | null = null;
  #header: string | null = null;

  constructor(options: GradedSandboxOptions) {
    this.#options = options;
    this.name = options.sandbox.name;
    this.isolation = options.sandbox.isolation;
  }

  /** The value of the header `x-wink-sandbox`; `null` until a sandbox was chosen. */
  get header(): string | null {
    return this.#header;
  }

  /** Rejects a sandbox that does not fulfill the options, before any code runs. */
  async check(): Promise<void> {
    await this.#options.sandbox.check();
    if (this.#options.require === "enforced") await this.grade();
  }

  /** Returns the chosen sandbox; with `trial` after a trial run, which may take seconds. */
  choose(trial: boolean): Promise<ChosenSandbox> {
    const { sandbox } = this.#options;
    return trial ? sandbox.chooseTested() : sandbox.choose();
  }

  /** Reports how the limits hold in the chosen sandbox. */
  grade(): Promise<LimitReport> {
    this.#graded ??= this.#grade().catch((error: unknown) => {
      this.#graded = null; // the next caller tries again
      throw error;
    });
    return this.#graded;
  }

  async probe(): ReturnType<Sandbox["probe"]> {
    const probe = await this.#options.sandbox.probe();
    return { ...probe, limits: await this.grade() };
  }

  async open(options: SandboxOptions): Promise<SandboxProcess> {
    await this.grade();
    const { require, sandbox } = this.#options;
    return await sandbox.open({ ...options, require });
  }

  /** Waits for a running trial. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#options.sandbox[Symbol.asyncDispose]();
  }

  async #grade(): Promise<LimitReport> {
    const { findDiskSupport, onWatched, require, sandbox } = this.#options;
    const chosen = await sandbox.choose();
    const report = combineLimits(chosen.limits, await findDiskSupport());
    if (require === "enforced") requireEnforced(report);
    const watched = listWatched(report);
    const { name } = chosen.sandbox;
    if (watched.length > 0 && chosen.limits)
      onWatched(
        `The limits on ${watched.join(" and ")} of the ${name} sandbox are watched, not enforced, so code can briefly exceed them: ${report.means}. Set limits.require to "enforced" to refuse this.`,
      );
    this.#header = formatLimits(name, report);
    return report;
  }
}
