import { evaluate } from "../adapter/evaluate.ts";
import type { EvaluationStream } from "../adapter/evaluation-stream.ts";
import { completeEvaluateOptions } from "../adapter/loop-options.ts";
import type { PromptResponse } from "../adapter/prompt-response.ts";
import type { EvaluateOptions, ProviderAdapter } from "../adapter/provider-adapter.ts";
import { streamEvaluation } from "../adapter/stream/stream-evaluation.ts";
import { maxThrottleWaitMs } from "../adapter/throttle.ts";
import type { EvaluablePrompt } from "../prompt/prompt.ts";
import {
  type AdapterSettings,
  type ClaudeAgentSDKAdapterOptions,
  toAdapterSettings,
} from "./adapter-options.ts";
import { Conversation } from "./conversation.ts";

/**
 * Runs prompts on the Claude Agent SDK. Each evaluation starts a separate process.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
 * import { ClaudeAgentSDKAdapter, withDomains } from "weakincentives/claude";
 *
 * const adapter = new ClaudeAgentSDKAdapter({
 *   model: "claude-sonnet-5",
 *   isolation: { networkPolicy: withDomains("pypi.org") },
 * });
 * const task = new MarkdownSection({ key: "task", title: "Task", template: "Explain RFC 9110 briefly." });
 * const prompt = new Prompt(new PromptTemplate({ ns: "docs", key: "explain", sections: [task] }));
 * const response = await adapter.evaluate(prompt, { session: new Session() });
 * ```
 */
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
  async evaluate<Output, State extends string = string>(
    prompt: EvaluablePrompt<Output, State>,
    options?: EvaluateOptions,
  ): Promise<PromptResponse<Output>> {
    const given = completeEvaluateOptions(prompt, options);
    const { throttle, clock, logger, random } = this.#settings;
    const conversation = new Conversation({
      ...this.#settings,
      prompt,
      session: given.session,
      continues: given.continue ?? false,
      allowedHostedTools: given.allowHostedTools,
      maxRetryMs: given[maxThrottleWaitMs],
    });
    const held = conversation.holdWorkspace();
    try {
      return await evaluate(prompt, conversation, {
        ...given,
        maxTurns: given.maxTurns ?? this.#settings.maxTurns,
        ...{ throttle, clock, logger, random },
        adapter: this,
      });
    } finally {
      held?.[Symbol.dispose]();
    }
  }

  /**
   * Evaluates a prompt like `evaluate`, and delivers the parts of each response as they arrive. The
   * evaluation starts at once; errors, also about options, reject `response` and end the iteration.
   */
  stream<Output, State extends string = string>(
    prompt: EvaluablePrompt<Output, State>,
    options?: EvaluateOptions,
  ): EvaluationStream<Output> {
    return streamEvaluation(prompt, options, (given) => this.evaluate(prompt, given));
  }
}
