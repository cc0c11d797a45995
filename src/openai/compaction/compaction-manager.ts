import type { Clock } from "../../base/clock.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { checkText } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { defaultRetries } from "../http/retry.ts";
import type { WireItem } from "../wire.ts";
import { canCompact, compactItems } from "./compact.ts";
import {
  type CompactionConfig,
  type CompactionSettings,
  compactionSettings,
} from "./compaction-config.ts";
import { type CompactionState, compactionSlice } from "./compaction-state.ts";

/** The options of a `CompactionManager`. */
export interface CompactionManagerOptions {
  /** The model that continues with the result. */
  readonly model: string;
  /** What the model follows; it is not compacted. */
  readonly instructions?: string | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Makes a conversation shorter with the provider's own compaction. The result replaces everything
 * before it, and the session keeps it for the next evaluation.
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
    this.#client = checkClient(client);
    this.#settings = compactionSettings(config, "CompactionManager(config)");
    this.#session = checkSession(session);
    checkText(options?.model, "CompactionManager(options).model");
    this.#options = options;
    session.register(compactionSlice);
  }

  /** What the session has kept so far. */
  get state(): CompactionState {
    return this.#session.get(compactionSlice);
  }

  /** Whether a conversation with so many tokens is to be compacted. */
  shouldCompact(currentTokens: number): boolean {
    return this.#settings.enabled && currentTokens > this.#settings.thresholdTokens;
  }

  /**
   * Has the provider compact these items, keeps the result, and returns it for the next request.
   * Throws `CompactionError`; then nothing has changed.
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
      retry: defaultRetries(clock),
      signal: new AbortController().signal,
      isKept: true,
    });
    return window;
  }

  /** These items after what the session has kept, unless it is among them already. */
  injectEncryptedItems<Item extends object>(items: readonly Item[]): readonly object[] {
    const { window, model } = this.state;
    if (model !== this.#options.model) return items;
    const known = new Set(items.map(sameness));
    const missing = window.filter((item) => !known.has(sameness(item)));
    const isThere = window.some((item) => "encrypted_content" in item && known.has(sameness(item)));
    return isThere ? items : [...missing, ...items];
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
