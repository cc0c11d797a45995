import { evaluate } from "../adapter/evaluate.ts";
import type {
  EvaluateOptions,
  PromptResponse,
  ProviderAdapter,
} from "../adapter/provider-adapter.ts";
import type { Prompt } from "../prompt/prompt.ts";
import {
  type AdapterSettings,
  type ClaudeAgentSDKAdapterOptions,
  toAdapterSettings,
} from "./adapter-options.ts";
import { Conversation } from "./conversation.ts";

/** Runs prompts on the Claude Agent SDK. Each evaluation starts a separate process. */
export class ClaudeAgentSDKAdapter implements ProviderAdapter {
  /** The adapter's name in events. */
  readonly name = "claude";
  /** The model's name; `null` if the SDK chooses the model. */
  readonly model: string | null;
  readonly #settings: AdapterSettings;

  constructor(options: ClaudeAgentSDKAdapterOptions = {}) {
    this.#settings = toAdapterSettings(options);
    this.model = this.#settings.model;
  }

  /** Runs a prompt until the model has answered. */
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
      allowedHostedTools: options?.allowHostedTools,
    });
    return await evaluate(prompt, conversation, {
      ...options,
      maxTurns: options?.maxTurns ?? this.#settings.maxTurns,
      ...{ throttle, clock, logger, random },
      adapter: this,
    });
  }
}
