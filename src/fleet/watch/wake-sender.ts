/**
 * Wakes the workers after runs were stored. Runs that are stored while a notification is on its way share the next one:
 * PostgreSQL commits transactions that notify one after the other.
 */
export class WakeSender {
  readonly #send: () => Promise<void>;
  #isWanted = false;
  #sending: Promise<void> | null = null;

  constructor(send: () => Promise<void>) {
    this.#send = send;
  }

  /** Sends a notification soon. A failure is ignored: the run is stored, and workers also poll. */
  wake(): void {
    this.#isWanted = true;
    this.#sending ??= this.#sendWanted();
  }

  /** Resolves when all notifications are sent. */
  async settle(): Promise<void> {
    await this.#sending;
  }

  async #sendWanted(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#send().catch(() => {});
    }
    this.#sending = null;
  }
}
