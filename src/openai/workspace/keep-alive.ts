import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerManager } from "./container-manager.ts";
import type { PlacementParts } from "./placement.ts";

/** Looks at a container now and then, which keeps it alive, while somebody holds it. */
export class KeepAlive {
  readonly #manager: ContainerManager;
  readonly #parts: Pick<PlacementParts, "calls" | "patience">;
  readonly #everyMs: number;
  #holders = 0;
  #over: AbortController | null = null;

  constructor(
    manager: ContainerManager,
    parts: Pick<PlacementParts, "calls" | "patience">,
    expiresAfterMinutes: number,
  ) {
    this.#manager = manager;
    this.#parts = parts;
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
      const id = this.#manager.containerId;
      if (id !== null) await this.#look(id, signal);
    }
  }

  /** One that is gone is replaced when it is next needed. */
  async #look(id: string, signal: AbortSignal): Promise<void> {
    const { logger } = this.#parts.patience();
    try {
      const status = await this.#parts.calls().status(id, { signal });
      if (status === "expired" || status === "deleted") {
        this.#manager.lose(id, `its status is "${status}"`);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) this.#manager.lose(id, error);
      logger.warn("a container could not be looked at", { id, problem: messageOf(error) });
    }
  }
}
