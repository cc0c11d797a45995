import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerLifecycle } from "./container-lifecycle.ts";
import type { WorkspaceConnection } from "./workspace-connection.ts";

/** Requests a container's status at intervals while it is held, which prevents it from expiring. */
export class KeepAlive {
  readonly #container: ContainerLifecycle;
  readonly #connection: WorkspaceConnection;
  readonly #intervalMs: number;
  #holdCount = 0;
  #polling: AbortController | null = null;

  constructor(
    container: ContainerLifecycle,
    connection: WorkspaceConnection,
    expiresAfterMinutes: number,
  ) {
    this.#container = container;
    this.#connection = connection;
    this.#intervalMs = (expiresAfterMinutes * 60_000) / 3;
  }

  /** Prevents the container from expiring until the returned hold is disposed. */
  hold(clock: Clock): Disposable {
    this.#holdCount += 1;
    if (!this.#polling) {
      this.#polling = new AbortController();
      this.#poll(clock, this.#polling.signal).catch(() => {}); // aborted when the last hold is disposed
    }
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#release();
        isHeld = false;
      },
    };
  }

  #release(): void {
    this.#holdCount -= 1;
    if (this.#holdCount > 0) return;
    this.#polling?.abort();
    this.#polling = null;
  }

  async #poll(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(this.#intervalMs, signal, { background: true });
      const id = this.#container.containerId;
      if (id !== null) await this.#checkContainer(id, signal);
    }
  }

  /** Checks the container. A lost container is replaced on its next use. */
  async #checkContainer(id: string, signal: AbortSignal): Promise<void> {
    const { calls, logger } = this.#connection;
    try {
      const status = await calls.getStatus(id, { signal });
      if (status === "expired" || status === "deleted") {
        this.#container.lose(id, `its status is "${status}"`);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) this.#container.lose(id, error);
      logger.warn("could not check a container", { id, problem: getErrorMessage(error) });
    }
  }
}
