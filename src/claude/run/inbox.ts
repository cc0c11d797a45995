import type { SdkUserMessage } from "../sdk.ts";

/** What the SDK is told, as long as it is open. */
export class Inbox implements AsyncIterable<SdkUserMessage> {
  readonly #waiting: SdkUserMessage[] = [];
  #changed = Promise.withResolvers<void>();
  #isClosed = false;

  put(content: readonly object[]): void {
    this.#waiting.push({
      type: "user",
      message: { role: "user", content },
      parent_tool_use_id: null,
    });
    this.#changed.resolve();
  }

  /** The SDK ends when it has answered what was put. */
  close(): void {
    this.#isClosed = true;
    this.#changed.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<SdkUserMessage> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#isClosed) return;
      else {
        await this.#changed.promise;
        this.#changed = Promise.withResolvers<void>();
      }
    }
  }
}
