import type { Session } from "../../../src/session/session.ts";
import { CrashLedger } from "./crash-ledger.ts";
import type { CrashOrder } from "./crash-order.ts";

/** The scene as the child process sees it. It kills the process at the ordered point. */
export class CrashChild {
  readonly folder: string;
  readonly details: Readonly<Record<string, string>>;
  readonly ledger: CrashLedger;
  readonly #point: CrashOrder["point"];
  /** The session of the run. */
  readonly session: Session;
  #count = 0;

  constructor({ folder, details, point }: CrashOrder, session: Session) {
    this.folder = folder;
    this.details = details;
    this.ledger = new CrashLedger(folder);
    this.#point = point;
    this.session = session;
  }

  /** Names a moment. Does not return if the process has to die there. */
  async reach(name: string): Promise<void> {
    if (!this.#isPoint(name)) return;
    if (this.#point?.flushed) await this.session.flush();
    die();
  }

  /** Like `reach`, for moments that cannot wait. */
  reachNow(name: string): void {
    if (this.#isPoint(name)) die();
  }

  #isPoint(name: string): boolean {
    if (this.#point?.at !== name) return false;
    this.#count += 1;
    return this.#count === (this.#point.nth ?? 1);
  }
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;); // the signal arrives at once
}
