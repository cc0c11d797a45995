import { evaluate } from "../adapter/evaluate.ts";
import type {
  EvaluateOptions,
  PromptResponse,
  ProviderAdapter,
} from "../adapter/provider-adapter.ts";
import type { Prompt } from "../prompt/prompt.ts";
import {
  type AdapterSettings,
  adapterSettings,
  type ClaudeAgentSDKAdapterOptions,
} from "./adapter-options.ts";
import { Conversation } from "./conversation.ts";

/** Runs prompts on the Claude Agent SDK, in a process of its own for each evaluation. */
export class ClaudeAgentSDKAdapter implements ProviderAdapter {
  readonly name = "claude";
  /** `null` if the SDK chooses. */
  readonly model: string | null;
  readonly #settings: AdapterSettings;

  constructor(options: ClaudeAgentSDKAdapterOptions = {}) {
    this.#settings = adapterSettings(options);
    this.model = this.#settings.model;
  }

  async evaluate<Output>(
    prompt: Prompt<Output>,
    options: EvaluateOptions,
  ): Promise<PromptResponse<Output>> {
    const { throttle, clock, logger, random } = this.#settings;
    const conversation = new Conversation({
      ...this.#settings,
      prompt,
      session: options?.session,
      continues: options?.continue ?? false,
      allowed: options?.allowHostedTools,
    });
    return await evaluate(prompt, conversation, {
      ...options,
      maxTurns: options?.maxTurns ?? this.#settings.maxTurns,
      ...{ throttle, clock, logger, random },
      adapter: this,
    });
  }
}
