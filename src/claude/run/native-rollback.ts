import { WinkError } from "../../base/errors.ts";
import type { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import type { Session } from "../../session/session.ts";

/** The native tools that can change files. */
const WRITE_TOOLS = new Set(["Bash", "Edit", "Write"]);

/** Whether calls to a native tool can change files. */
export function canWrite(name: string): boolean {
  return WRITE_TOOLS.has(name);
}

interface OpenCall {
  readonly callId: string;
  readonly before: ReturnType<Session["snapshot"]>;
}

/**
 * Rolls back failed calls to the SDK's native tools: restores the session and the workspace's files,
 * regardless of which process changed them.
 */
export class NativeRollback {
  readonly #session: Session;
  readonly #checkpoint: FolderCheckpoint;
  #openCall: OpenCall | null = null;

  constructor(session: Session, checkpoint: FolderCheckpoint) {
    this.#session = session;
    this.#checkpoint = checkpoint;
  }

  /** Takes a snapshot before a call that can change files. */
  async beforeCall(callId: string, name: string): Promise<void> {
    if (!canWrite(name)) return;
    await this.#checkpoint.take();
    this.#openCall = { callId, before: this.#session.snapshot() };
  }

  /** Restores the snapshot if the call has failed. */
  async afterCall(callId: string, isFailed: boolean): Promise<void> {
    const open = this.#openCall;
    if (open?.callId !== callId) return;
    this.#openCall = null;
    if (isFailed) await this.#restore(open);
  }

  /** Drops the snapshot when no call is running. A call without a result was not allowed to run. */
  onIdle(): void {
    this.#openCall = null;
  }

  /** Ends the rollback with the run. A call that is still running counts as failed. */
  async end(): Promise<void> {
    const open = this.#openCall;
    this.#openCall = null;
    try {
      if (open) await this.#restore(open);
    } finally {
      await this.#checkpoint[Symbol.asyncDispose]();
    }
  }

  async #restore({ before }: OpenCall): Promise<void> {
    this.#session.restore(before);
    const { failed } = await this.#checkpoint.restore();
    if (failed.length === 0) return;
    const reasons = failed.map(({ path, reason }) => `"${path}" (${reason})`).join(", ");
    throw new WinkError(`These files could not be restored: ${reasons}. Restore them manually.`);
  }
}
