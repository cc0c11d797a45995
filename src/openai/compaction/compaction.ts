import { announce } from "../../adapter/announce.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { Session } from "../../session/session.ts";
import { checkText } from "../../tools/config-checks.ts";
import { CompactionError } from "../errors/errors.ts";
import type { OpenAIClient } from "../http/client.ts";
import { defaultPatience, type Patience, patiently } from "../http/patience.ts";
import type { WireItem } from "../wire.ts";
import { canCompact, compact } from "./compaction-calls.ts";
import {
  type CompactionConfig,
  type CompactionSettings,
  compactionSettings,
} from "./compaction-config.ts";
import { type CompactionState, compactionSlice } from "./compaction-state.ts";

/** What a `CompactionManager` is told besides. */
export interface CompactionManagerOptions {
  /** The model that goes on with what was compacted. */
  readonly model: string;
  /** What the model goes by; it stays outside of what is compacted. */
  readonly instructions?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** What an adapter adds to that. */
export interface CompactionBinding extends CompactionManagerOptions {
  readonly promptName?: string | undefined;
  readonly patience?: Patience | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly secrets?: readonly string[] | undefined;
  /** Whether the session is to know of it. @default true */
  readonly keeps?: boolean | undefined;
}

/**
 * Makes a conversation shorter by the provider's own means: what it gives stands in for all that
 * came before, and the session keeps it for the next evaluation.
 */
export class CompactionManager {
  readonly #client: OpenAIClient;
  readonly #settings: CompactionSettings;
  readonly #session: Session;
  readonly #binding: CompactionBinding;

  constructor(
    client: OpenAIClient,
    config: CompactionConfig,
    session: Session,
    options: CompactionManagerOptions,
  ) {
    this.#client = checkClient(client);
    this.#settings = compactionSettings(config, "CompactionManager(config)");
    this.#session = checkSession(session);
    checkText(options?.model, "CompactionManager(options).model");
    this.#binding = options;
    session.register(compactionSlice);
  }

  /** What the session has kept so far. */
  get state(): CompactionState {
    return this.#session.get(compactionSlice);
  }

  /** Whether a conversation of so many tokens is to be made shorter. */
  shouldCompact(currentTokens: number): boolean {
    return this.#settings.enabled && currentTokens > this.#settings.thresholdTokens;
  }

  /**
   * Has the provider compact these items, keeps what it gives, and gives it for the next request.
   * Throws `CompactionError`; then nothing has changed.
   */
  async compact<Item extends object>(
    items: readonly Item[],
    tokens = 0,
  ): Promise<readonly WireItem[]> {
    const { window } = await this.#compact(items, tokens);
    return window;
  }

  /** The same with what it cost. */
  async compactWithUsage(
    items: readonly object[],
    tokens: number,
  ): Promise<{ readonly window: readonly WireItem[]; readonly usage: TokenUsage }> {
    return await this.#compact(items, tokens);
  }

  /** What was kept before these items, unless it is among them already. */
  injectEncryptedItems<Item extends object>(items: readonly Item[]): readonly object[] {
    const { window, model } = this.state;
    if (model !== this.#binding.model) return items;
    const known = new Set(items.map(sameness));
    const missing = window.filter((item) => !known.has(sameness(item)));
    const isThere = window.some((item) => "encrypted_content" in item && known.has(sameness(item)));
    return isThere ? items : [...missing, ...items];
  }

  async #compact(items: readonly object[], tokens: number) {
    const { model, instructions, clock = systemClock } = this.#binding;
    const { patience = defaultPatience(clock), timeoutMs, secrets } = this.#binding;
    const { signal = new AbortController().signal } = this.#binding;
    const body = { model, input: items, ...(instructions !== undefined && { instructions }) };
    const options = { signal, timeoutMs, secrets };
    try {
      const compacted = await patiently(
        () => compact(this.#client, body, options),
        patience,
        signal,
      );
      this.#keep(compacted.window, tokens);
      return compacted;
    } catch (error) {
      signal.throwIfAborted();
      throw new CompactionError(tokens, error, this.#binding.promptName ?? "");
    }
  }

  /** What a conversation goes on from now. */
  #keep(window: readonly WireItem[], tokens: number): void {
    const { model, promptName = "", clock = systemClock, keeps = true } = this.#binding;
    if (!keeps) return;
    const announcer = { session: this.#session, prompt: { name: promptName }, clock };
    announce(
      { ...announcer, adapterName: "openai" },
      { type: "CompactionKept", model, tokens, window },
    );
  }
}

function sameness(item: object): string {
  return "id" in item && typeof item.id === "string" ? item.id : JSON.stringify(item);
}

function checkClient(client: OpenAIClient): OpenAIClient {
  if (canCompact(client)) return client;
  throw new InvalidOptionError({
    field: "CompactionManager(client)",
    value: client,
    rule: "must be a client that can compact and count tokens",
    remedy: "give openAIClient(), or a new OpenAI() of version 7",
  });
}

function checkSession(session: Session): Session {
  if (session instanceof Session) return session;
  const rule = "must be a Session";
  const field = "CompactionManager(session)";
  throw new InvalidOptionError({ field, value: session, rule, remedy: "give new Session()" });
}
