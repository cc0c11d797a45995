import type { Clock } from "../../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { checkSingleLine } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { createRetrySettings } from "../http/retry.ts";
import type { WireItem } from "../wire.ts";
import { canCompact, compactItems } from "./compact-items.ts";
import {
  type CompactionConfig,
  type CompactionSettings,
  resolveCompactionSettings,
} from "./compaction-config.ts";
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
    this.#settings = resolveCompactionSettings(config, "CompactionManager(config)");
    this.#session = checkSession(session);
    checkKnownKeys(options, "CompactionManager(options)", managerKeys);
    checkSingleLine(options.model, "CompactionManager(options).model");
    this.#options = options;
    session.register(compactionSlice);
  }

  /** The compaction state stored in the session. */
  get state(): CompactionState {
    return this.#session.get(compactionSlice);
  }

  /** Whether a conversation with `currentTokens` tokens exceeds the threshold. */
  shouldCompact(currentTokens: number): boolean {
    return this.#settings.enabled && currentTokens > this.#settings.thresholdTokens;
  }

  /**
   * Compacts the items at the provider, stores the result in the session, and returns it for the next
   * request. `tokens` is the token count to record. Throws `CompactionError` on failure, and then the
   * session is unchanged.
   */
  async compact<Item extends object>(
    items: readonly Item[],
    tokens = 0,
  ): Promise<readonly WireItem[]> {
    const { model, instructions, clock } = this.#options;
    const { window } = await compactItems(items, tokens, {
      client: this.#client,
      model,
      instructions,
      session: this.#session,
      promptName: "",
      retry: createRetrySettings(clock),
      signal: new AbortController().signal,
      storesResult: true,
    });
    return window;
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
