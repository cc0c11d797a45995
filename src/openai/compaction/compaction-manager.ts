import { publishEvent } from "../../adapter/events.ts";
import type { RetrySettings } from "../../adapter/throttle.ts";
import type { Clock } from "../../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { checkSingleLine } from "../../tools/config-checks.ts";
import { CompactionError } from "../errors/errors.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { createRetrySettings, withRetries } from "../http/retry.ts";
import type { WireItem } from "../wire.ts";
import {
  canCompact,
  compactItems,
  countTokens,
  estimateTokens,
  toCompactedEvent,
  toKeptEvent,
} from "./compact-items.ts";
import {
  type CompactionConfig,
  type CompactionSettings,
  resolveCompactionSettings,
} from "./compaction-config.ts";
import { getCompactionLimit, judgeCompaction } from "./compaction-pacer.ts";
import { type CompactionState, compactionSlice } from "./compaction-state.ts";

/** The options of a `CompactionManager`. */
export interface CompactionManagerOptions {
  /** The model that continues with the result. */
  readonly model: string;
  /** The model's instructions. They are not compacted. @default none */
  readonly instructions?: string | undefined;
  /** The clock that times retries. @default the system clock */
  readonly clock?: Clock | undefined;
}

const managerKeys: KnownKeys<CompactionManagerOptions> = {
  clock: true,
  instructions: true,
  model: true,
};

/**
 * Shortens a conversation with the provider's compaction endpoint. The result replaces everything
 * before it, and the session stores it for the next evaluation.
 */
export class CompactionManager {
  readonly #client: OpenAIClient;
  readonly #settings: CompactionSettings;
  readonly #session: Session;
  readonly #options: CompactionManagerOptions;

  constructor(
    client: OpenAIClient,
    config: CompactionConfig,
    session: Session,
    options: CompactionManagerOptions,
  ) {
    this.#client = checkCompactionClient(client);
    this.#session = checkSession(session);
    checkKnownKeys(options, "CompactionManager(options)", managerKeys);
    const { model } = options;
    checkSingleLine(model, "CompactionManager(options).model");
    this.#settings = resolveCompactionSettings(config, "CompactionManager(config)", model);
    this.#options = options;
    session.register(compactionSlice);
  }

  /** The compaction state stored in the session. */
  get state(): CompactionState {
    return this.#session.get(compactionSlice);
  }

  /**
   * Whether a conversation with `currentTokens` tokens exceeds the threshold, or the higher size that
   * compactions have backed off to because they saved less than 20 %.
   */
  shouldCompact(currentTokens: number): boolean {
    return (
      this.#settings.enabled &&
      currentTokens > getCompactionLimit(this.state.backoff, this.#settings)
    );
  }

  /**
   * Compacts the items at the provider, stores the result in the session, and returns it for the next
   * request. `tokens` is the size of the conversation, by default counted at the provider with one
   * request. Publishes `ContextCompacted`. Throws `CompactionError` on failure, and then the session
   * is unchanged.
   */
  async compact<Item extends object>(
    items: readonly Item[],
    tokens?: number,
  ): Promise<readonly WireItem[]> {
    const { model, instructions } = this.#options;
    const retry = createRetrySettings(this.#options.clock);
    const { signal } = new AbortController();
    const counted = tokens ?? (await this.#countTokens(items, retry, signal));
    const result = await compactItems(items, counted, {
      client: this.#client,
      ...{ model, instructions, retry, signal },
      promptName: "",
      judge: (sizes) => judgeCompaction(sizes, this.state.backoff, this.#settings),
    });
    const { window, usage, verdict, tokensAfter: after } = result;
    const count = { before: items.length, after: window.length };
    const details = { items: count, tokens: counted, after, usage, verdict };
    const publisher = { session: this.#session, prompt: { name: "" }, adapterName: "openai" };
    const kept = toKeptEvent(window, model, details);
    const compacted = toCompactedEvent(window, "endpoint", details);
    publishEvent({ ...publisher, clock: retry.clock }, kept, compacted);
    return window;
  }

  /** Counts the tokens at the provider, or estimates them if it lacks the endpoint. */
  async #countTokens(
    items: readonly object[],
    retry: RetrySettings,
    signal: AbortSignal,
  ): Promise<number> {
    const { model, instructions } = this.#options;
    const body = { model, input: items, ...(instructions !== undefined && { instructions }) };
    const request = { text: () => JSON.stringify(body), value: () => body };
    try {
      const count = () => countTokens(this.#client, request, { signal });
      return await withRetries(count, retry, signal);
    } catch (error) {
      const estimate = estimateTokens(JSON.stringify(body).length);
      if (error instanceof OpenAIRequestError && error.status === 404) return estimate;
      throw new CompactionError(estimate, error, "");
    }
  }

  /**
   * Returns the items with the stored window before them. Returns them unchanged if they already
   * contain it, or if it was compacted for another model.
   */
  injectEncryptedItems<Item extends object>(items: readonly Item[]): readonly object[] {
    const { window, model } = this.state;
    if (model !== this.#options.model) return items;
    const knownKeys = new Set(items.map(toComparisonKey));
    const missing = window.filter((item) => !knownKeys.has(toComparisonKey(item)));
    const hasWindow = window.some(
      (item) => "encrypted_content" in item && knownKeys.has(toComparisonKey(item)),
    );
    return hasWindow ? items : [...missing, ...items];
  }
}

function toComparisonKey(item: object): string {
  return "id" in item && typeof item.id === "string" ? item.id : JSON.stringify(item);
}

function checkCompactionClient(client: OpenAIClient): OpenAIClient {
  if (canCompact(client)) return client;
  throw new InvalidOptionError({
    field: "CompactionManager(client)",
    value: client,
    rule: "must be a client that can compact and count tokens",
    remedy: "pass openAIClient(), or a new OpenAI() of version 7",
  });
}

function checkSession(session: Session): Session {
  if (session instanceof Session) return session;
  const rule = "must be a Session";
  const field = "CompactionManager(session)";
  throw new InvalidOptionError({ field, value: session, rule, remedy: "pass new Session()" });
}
