import { setImmediate } from "node:timers/promises";
import type { RecordWriter } from "../../session/session-store.ts";
import { createOutdatedError } from "../session-file-errors.ts";
import { createRefusedError } from "./refused-error.ts";
import type { AppendRefusal, RecordRun } from "./session-tables.ts";

/** Stores runs of records. See `SessionTables.append`. */
export type StoreRuns = (runs: readonly RecordRun[]) => Promise<readonly (AppendRefusal | null)[]>;

/** Options of an {@link AppendQueue}. */
export interface AppendQueueOptions {
  readonly store: StoreRuns;
  /** Writers whose records were refused or could not be stored. Several queues may share it. */
  readonly retired: WeakSet<object>;
  /** Called each time nothing is pending any more. */
  readonly onIdle: () => void;
}

/**
 * Stores records in the order of the calls. Records that arrive in the same tick, or while others are being stored, are
 * stored together. After a failure it refuses the writer's later records, which would leave a gap.
 */
export class AppendQueue {
  readonly #store: StoreRuns;
  readonly #retired: WeakSet<object>;
  /** Records that may be stored together. Other work starts a new list. */
  #pending: Entry[] = [];
  #work: Promise<unknown> = Promise.resolve();
  readonly #onIdle: () => void;
  #tasks = 0;

  constructor({ store, retired, onIdle }: AppendQueueOptions) {
    this.#store = store;
    this.#retired = retired;
    this.#onIdle = onIdle;
  }

  /** Stores a record. Resolves when the database has it. */
  append(id: string, text: string, by: RecordWriter | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const pending = this.#pending;
    pending.push({ id, text, by, resolve, reject });
    if (pending.length === 1) void this.#chain(() => this.#drain(pending));
    return promise;
  }

  /** Runs `work` after all earlier records and before all later ones. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#pending = [];
    return await this.#chain(work);
  }

  #chain<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#tasks += 1;
    const result = this.#work.then(work).finally(() => {
      this.#tasks -= 1;
      if (this.#tasks === 0) this.#onIdle();
    });
    this.#work = result.catch(() => {}); // the caller handles the error
    return result;
  }

  async #drain(pending: Entry[]): Promise<void> {
    await setImmediate(); // collects records that are appended together
    const admitted = pending.splice(0).filter((entry) => this.#admit(entry));
    const { runs, later } = toRuns(admitted);
    for (const entry of later) pending.push(entry);
    if (later.length > 0) void this.#chain(() => this.#drain(pending));
    if (runs.length === 0) return;
    try {
      const refusals = await this.#store(runs);
      for (const [index, run] of runs.entries()) this.#settle(run, refusals[index] ?? null);
    } catch (error) {
      for (const run of runs) this.#reject(run, error);
    }
  }

  #admit({ id, by, reject }: Entry): boolean {
    if (!by || !this.#retired.has(by.writer)) return true;
    reject(createOutdatedError(id));
    return false;
  }

  #settle(run: EntryRun, refusal: AppendRefusal | null): void {
    if (refusal) this.#reject(run, createRefusedError(run.id, refusal, run.by));
    else for (const { resolve } of run.entries) resolve();
  }

  #reject({ entries, by }: EntryRun, error: unknown): void {
    if (by) this.#retired.add(by.writer);
    for (const { reject } of entries) reject(error);
  }
}

interface Entry {
  readonly id: string;
  readonly text: string;
  readonly by: RecordWriter | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface EntryRun extends RecordRun {
  readonly entries: Entry[];
  /** Number of characters of the texts. */
  length: number;
}

/** Drivers and databases limit a statement to some hundred megabytes: longer runs are split. */
const MAX_RUN_LENGTH = 16 * 1024 ** 2;

/** Makes one run per session: a second one waits for the result of the first. */
function toRuns(entries: readonly Entry[]): {
  readonly runs: readonly EntryRun[];
  readonly later: readonly Entry[];
} {
  const runs = new Map<string, EntryRun>();
  const later: Entry[] = [];
  const waiting = new Set<string>();
  for (const entry of entries) {
    const { id, by, text } = entry;
    const run = runs.get(id);
    if (!run) runs.set(id, { id, by, texts: [text], entries: [entry], length: text.length });
    else if (!waiting.has(id) && continuesRun(run, entry)) {
      run.texts.push(text);
      run.length += text.length;
      run.entries.push(entry);
    } else {
      waiting.add(id);
      later.push(entry);
    }
  }
  return { runs: [...runs.values()], later };
}

function continuesRun({ by, texts, length }: EntryRun, next: Entry): boolean {
  return (
    length + next.text.length <= MAX_RUN_LENGTH &&
    by?.writer === next.by?.writer &&
    by?.fence === next.by?.fence &&
    (by === undefined || by.position + texts.length === next.by?.position)
  );
}
