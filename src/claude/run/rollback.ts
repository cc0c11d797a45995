import { WinkError } from "../../base/errors.ts";
import type { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import type { Session } from "../../session/session.ts";

/** The SDK's own tools that can change something. */
const CHANGING = new Set(["Bash", "Edit", "Write"]);

interface OpenCall {
  readonly callId: string;
  readonly before: ReturnType<Session["snapshot"]>;
}

/**
 * Rolls back failed calls of the SDK's own tools: it restores the session and the files of the
 * workspace, whichever process changed them.
 */
export class NativeRollback {
  readonly #session: Session;
  readonly #checkpoint: FolderCheckpoint;
  #open: OpenCall | null = null;

  constructor(session: Session, checkpoint: FolderCheckpoint) {
    this.#session = session;
    this.#checkpoint = checkpoint;
  }

  /** Takes a snapshot before a call. */
  async before(callId: string, name: string): Promise<void> {
    if (!CHANGING.has(name)) return;
    await this.#checkpoint.take();
    this.#open = { callId, before: this.#session.snapshot() };
  }

  /** Restores the snapshot if the call has failed. */
  async after(callId: string, isFailed: boolean): Promise<void> {
    const open = this.#open;
    if (open?.callId !== callId) return;
    this.#open = null;
    if (isFailed) await this.#undo(open);
  }

  /** Drops the snapshot, because no call is running: one that has not ended was not allowed to run. */
  idle(): void {
    this.#open = null;
  }

  /** Ends the rollback with the run. A call that was still running counts as failed. */
  async end(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    try {
      if (open) await this.#undo(open);
    } finally {
      await this.#checkpoint[Symbol.asyncDispose]();
    }
  }

  async #undo({ before }: OpenCall): Promise<void> {
    this.#session.restore(before);
    const { failed } = await this.#checkpoint.restore();
    if (failed.length === 0) return;
    const reasons = failed.map(({ path, reason }) => `"${path}" (${reason})`).join(", ");
    throw new WinkError(`Not all files could be put back: ${reasons}`);
  }
}
