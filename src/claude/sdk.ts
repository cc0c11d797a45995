import { describeLoadFailure } from "../base/describe-load-failure.ts";
import { WinkError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";

/** The part of `@anthropic-ai/claude-agent-sdk` that the adapter uses. Pass the imported module. */
export interface ClaudeSdk {
  /** Starts the SDK and yields its messages. */
  query(request: SdkRequest): AsyncIterable<unknown>;
}

/** The argument of the SDK's `query`. */
export interface SdkRequest {
  readonly prompt: AsyncIterable<SdkUserMessage>;
  readonly options: UnknownRecord;
}

/** A message to the model, in Anthropic's format. */
export interface SdkUserMessage {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: readonly object[] };
  readonly parent_tool_use_id: null;
}

/** A queue of user messages that the SDK reads until the queue is closed. */
export class UserMessages implements AsyncIterable<SdkUserMessage> {
  readonly #queue: SdkUserMessage[] = [];
  #changed = Promise.withResolvers<void>();
  #isClosed = false;

  /** Adds a message with these content blocks. */
  add(content: readonly object[]): void {
    this.#queue.push({
      type: "user",
      message: { role: "user", content },
      parent_tool_use_id: null,
    });
    this.#changed.resolve();
  }

  /** Closes the queue: the SDK ends after it has answered the remaining messages. */
  close(): void {
    this.#isClosed = true;
    this.#changed.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<SdkUserMessage> {
    for (;;) {
      const next = this.#queue.shift();
      if (next) yield next;
      else if (this.#isClosed) return;
      else {
        await this.#changed.promise;
        this.#changed = Promise.withResolvers<void>();
      }
    }
  }
}

const PACKAGE = "@anthropic-ai/claude-agent-sdk";

/**
 * Imports the installed SDK. It is an optional peer dependency, because it is large and has its own
 * license.
 */
export async function loadSdk(
  load: () => Promise<Partial<ClaudeSdk>> = () => import(PACKAGE),
): Promise<ClaudeSdk> {
  let loaded: Partial<ClaudeSdk>;
  try {
    loaded = await load();
  } catch (cause) {
    const problem = describeLoadFailure(cause);
    const message = `The Claude Agent SDK ${problem}. Run npm install ${PACKAGE}, or pass the module as the adapter's sdk option.`;
    throw new WinkError(message, { cause });
  }
  if (typeof loaded.query === "function") return loaded as ClaudeSdk;
  throw new WinkError(`${PACKAGE} does not export query(). Install version 0.3 or later.`);
}
