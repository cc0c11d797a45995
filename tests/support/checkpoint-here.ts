import { realpathSync } from "node:fs";
import type { FolderRestoreResult } from "../../src/files/checkpoint/restore-report.ts";
import { restoreTree } from "../../src/files/checkpoint/restore-tree.ts";
import { StopFlag } from "../../src/files/checkpoint/stop-flag.ts";
import { takeTree } from "../../src/files/checkpoint/take-tree.ts";

/** How a checkpoint works; `now` is in milliseconds since 1970. */
export interface CheckpointHereOptions {
  readonly copies: string;
  readonly byDescriptor?: boolean | undefined;
  /** Ahead of the machine's, every file is known by its times. @default the machine's */
  readonly now?: (() => number) | undefined;
}

/** What a checkpoint's thread does, in this one. */
export class CheckpointHere {
  readonly stop = new StopFlag();
  /** What the checkpoint remembers. */
  records: Uint8Array | null = null;
  readonly #folder: string;
  readonly #options: CheckpointHereOptions;
  #attempts = 0;

  constructor(folder: string, options: CheckpointHereOptions) {
    this.#folder = realpathSync(folder);
    this.#options = options;
  }

  take(): void {
    this.#attempts += 1;
    const order = { ...this.#order(), last: this.records, attempt: this.#attempts };
    this.records = takeTree({ ...order });
  }

  restore(): FolderRestoreResult {
    if (this.records === null) throw new Error("Nothing was taken");
    const { records, result } = restoreTree({
      last: this.records,
      ...this.#order(),
    });
    this.records = records;
    return result;
  }

  #order() {
    const { copies, byDescriptor, now = Date.now } = this.#options;
    return { folder: this.#folder, copies, byDescriptor, now: now(), stop: this.stop.shared };
  }
}
