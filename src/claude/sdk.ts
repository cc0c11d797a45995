import { messageOf, WinkError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/reading.ts";

/** The part of `@anthropic-ai/claude-agent-sdk` that the adapter uses. The package fits as it is. */
export interface ClaudeSdk {
  query(request: SdkRequest): AsyncIterable<unknown>;
}

/** What the SDK's `query` takes. */
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

/** A queue of messages to the model, which the SDK reads until it is closed. */
export class UserMessages implements AsyncIterable<SdkUserMessage> {
  readonly #waiting: SdkUserMessage[] = [];
  #changed = Promise.withResolvers<void>();
  #isClosed = false;

  /** Adds a message of content blocks. */
  put(content: readonly object[]): void {
    this.#waiting.push({
      type: "user",
      message: { role: "user", content },
      parent_tool_use_id: null,
    });
    this.#changed.resolve();
  }

  /** Ends the queue: the SDK ends when it has answered the messages that are in it. */
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

const PACKAGE = "@anthropic-ai/claude-agent-sdk";

/** Imports the installed SDK. It is an optional peer, because it is large and has its own license. */
export async function loadSdk(
  load: () => Promise<Partial<ClaudeSdk>> = () => import(PACKAGE),
): Promise<ClaudeSdk> {
  let loaded: Partial<ClaudeSdk>;
  try {
    loaded = await load();
  } catch (cause) {
    const isMissing =
      /cannot find (package|module)|failed to (load|resolve)|could not resolve/i.test(
        messageOf(cause),
      );
    const problem = isMissing ? "is not installed" : `could not be loaded (${messageOf(cause)})`;
    const remedy = `run npm install ${PACKAGE}, or give it as the adapter's sdk`;
    throw new WinkError(`The Claude Agent SDK ${problem}: ${remedy}`, { cause });
  }
  if (typeof loaded.query === "function") return loaded as ClaudeSdk;
  throw new WinkError(`${PACKAGE} has no query(): install version 0.3 or later`);
}
