import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerLifecycle } from "./container-lifecycle.ts";
import type { WorkspaceConnection } from "./workspace-connection.ts";

/** Looks a container up now and then while somebody holds it, which keeps it from expiring. */
export class KeepAlive {
  readonly #container: ContainerLifecycle;
  readonly #connection: WorkspaceConnection;
  readonly #everyMs: number;
  #holders = 0;
  #over: AbortController | null = null;

  constructor(
    container: ContainerLifecycle,
    connection: WorkspaceConnection,
    expiresAfterMinutes: number,
  ) {
    this.#container = container;
    this.#connection = connection;
    this.#everyMs = (expiresAfterMinutes * 60_000) / 3;
  }

  hold(clock: Clock): Disposable {
    this.#holders += 1;
    if (!this.#over) {
      this.#over = new AbortController();
      this.#watch(clock, this.#over.signal).catch(() => {}); // nobody holds it any more
    }
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#letGo();
        isHeld = false;
      },
    };
  }

  #letGo(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#over?.abort();
    this.#over = null;
  }

  async #watch(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(this.#everyMs, signal, { background: true });
      const id = this.#container.containerId;
      if (id !== null) await this.#look(id, signal);
    }
  }

  /** One that is gone is replaced when it is next needed. */
  async #look(id: string, signal: AbortSignal): Promise<void> {
    const { calls, logger } = this.#connection;
    try {
      const status = await calls.status(id, { signal });
      if (status === "expired" || status === "deleted") {
        this.#container.lose(id, `its status is "${status}"`);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) this.#container.lose(id, error);
      logger.warn("a container could not be looked at", { id, problem: messageOf(error) });
    }
  }
}
