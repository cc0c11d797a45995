import { realpathSync } from "node:fs";
import { captureTree } from "../../src/files/checkpoint/capture-tree.ts";
import type { FolderRestoreResult } from "../../src/files/checkpoint/restore-report.ts";
import { restoreTree } from "../../src/files/checkpoint/restore-tree.ts";
import { StopFlag } from "../../src/files/checkpoint/stop-flag.ts";

/** Options of an {@link InlineCheckpoint}. `now` returns milliseconds since 1970. */
export interface InlineCheckpointOptions {
  readonly copies: string;
  readonly byDescriptor?: boolean | undefined;
  /** A clock ahead of the system's makes every file identified by its times. @default the system clock */
  readonly now?: (() => number) | undefined;
}

/** A checkpoint that works in the calling thread. */
export class InlineCheckpoint {
  readonly stop = new StopFlag();
  /** The serialized records of the checkpoint. */
  records: Uint8Array | null = null;
  readonly #folder: string;
  readonly #options: InlineCheckpointOptions;
  #attempts = 0;

  constructor(folder: string, options: InlineCheckpointOptions) {
    this.#folder = realpathSync(folder);
    this.#options = options;
  }

  take(): void {
    this.#attempts += 1;
    const order = { ...this.#createTask(), last: this.records, attempt: this.#attempts };
    this.records = captureTree({ ...order });
  }

  restore(): FolderRestoreResult {
    if (this.records === null) throw new Error("Nothing was taken");
    const { records, result } = restoreTree({
      last: this.records,
      ...this.#createTask(),
    });
    this.records = records;
    return result;
  }

  #createTask() {
    const { copies, byDescriptor, now = Date.now } = this.#options;
    return { folder: this.#folder, copies, byDescriptor, now: now(), stop: this.stop.shared };
  }
}
