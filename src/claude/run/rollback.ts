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
 * Undoes what a call of the SDK's own tools did, if it fails: the session is as it was before, and
 * so are the files of the workspace, whichever process changed them.
 */
export class NativeRollback {
  readonly #session: Session;
  readonly #checkpoint: FolderCheckpoint;
  #open: OpenCall | null = null;

  constructor(session: Session, checkpoint: FolderCheckpoint) {
    this.#session = session;
    this.#checkpoint = checkpoint;
  }

  /** Before a call: remembers how things are. */
  async before(callId: string, name: string): Promise<void> {
    if (!CHANGING.has(name)) return;
    await this.#checkpoint.take();
    this.#open = { callId, before: this.#session.snapshot() };
  }

  /** After it. */
  async after(callId: string, isFailed: boolean): Promise<void> {
    const open = this.#open;
    if (open?.callId !== callId) return;
    this.#open = null;
    if (isFailed) await this.#undo(open);
  }

  /** No call is in flight: one that has not ended was not let run, and has nothing to undo. */
  idle(): void {
    this.#open = null;
  }

  /** When the run is over: a call that was in flight has failed. */
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
