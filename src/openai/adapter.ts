import type { EvaluationStream } from "../adapter/evaluation-stream.ts";
import { completeEvaluateOptions } from "../adapter/loop-options.ts";
import { loadOnce } from "../adapter/on-demand/load-once.ts";
import "../adapter/on-demand/slices.ts";
import { startWhenLoaded } from "../adapter/on-demand/start-when-loaded.ts";
import type { PromptResponse } from "../adapter/prompt-response.ts";
import type { EvaluateOptions, ProviderAdapter } from "../adapter/provider-adapter.ts";
import { streamEvaluation } from "../adapter/stream/stream-evaluation.ts";
import { maxThrottleWaitMs, retryThrottled } from "../adapter/throttle.ts";
import { checkKnownKeys } from "../base/errors.ts";
import { ThrottleError } from "../base/evaluation-errors.ts";
import type { EvaluablePrompt, Prompt } from "../prompt/prompt.ts";
import type { Section } from "../prompt/section.ts";
import { MountedSection } from "../prompt/sections/mounted-section.ts";
import type { ContainerFileCitation, FileCitation } from "../tools/hosted/citation.ts";
import { type OpenAIAdapterOptions, toAdapterSettings } from "./adapter-options.ts";
import type { AdapterSettings } from "./adapter-settings.ts";
import type { PromptWorkspace } from "./conversation/conversation-container.ts";
import type { LastRequest } from "./conversation/request-base-cache.ts";
import type { OpenAIClient } from "./http/client.ts";
import { downloadCitedFile } from "./http/download-cited-file.ts";
import { EgressLog } from "./http/egress-log.ts";
import { recordRequests } from "./http/record-requests.ts";
import type { OpenAIContainerWorkspaceSection } from "./workspace/container-workspace-section.ts";
import type { WorkspaceLoader } from "./workspace/workspace-loader.ts";

// A slice of evaluations, like those of the loop: `Session.open` replays it also before the first one.
import "./history/resume-point.ts";

/**
 * Runs prompts on OpenAI's Responses API.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const adapter = new OpenAIAdapter({
 *   model: "gpt-5.2",
 *   hostedTools: { webSearch: true },
 *   compaction: { thresholdRatio: 0.7 },
 * });
 * const task = new MarkdownSection({ key: "task", title: "Task", template: "Summarize today's news." });
 * const prompt = new Prompt(new PromptTemplate({ ns: "news", key: "today", sections: [task] }));
 * const response = await adapter.evaluate(prompt, { session: new Session() });
 * ```
 */
export class OpenAIAdapter implements ProviderAdapter {
  /** The provider's name in events: `"openai"`. */
  readonly name = "openai";
  /** The model's name at the provider. */
  readonly model: string;
  readonly #settings: AdapterSettings;
  readonly #lastRequest: LastRequest = { current: null };

  constructor(options: OpenAIAdapterOptions) {
    this.#settings = toAdapterSettings(options);
    this.model = this.#settings.model;
  }

  /** The client that sends the adapter's requests. Pass it to `uploadFile`. */
  get client(): OpenAIClient {
    return this.#settings.client;
  }

  /**
   * Runs a prompt until the model gives its final answer: sends requests, runs tool calls and
   * returns the response. Failed evaluations throw a `PromptEvaluationError`.
   */
  async evaluate<Output, State extends string = string>(
    prompt: EvaluablePrompt<Output, State>,
    options?: EvaluateOptions,
  ): Promise<PromptResponse<Output>> {
    const given = completeEvaluateOptions(prompt, options);
    const { throttle, clock, logger, random } = this.#settings;
    const sections = findWorkspaces(prompt);
    const { session, continue: continues = false } = given;
    const limit = { [maxThrottleWaitMs]: given[maxThrottleWaitMs] };
    const egress = new EgressLog();
    const client = recordRequests(this.#settings.client, egress);
    const lastRequest = this.#lastRequest;
    const own = { client, egress, lastRequest, prompt, session, continues };
    const settings = { ...this.#settings, ...limit, ...own };
    const start = ({ evaluate, Conversation, workspaces }: EvaluationCode, chosen: typeof given) =>
      evaluate(prompt, new Conversation(settings, workspaces), {
        ...chosen,
        toolChoice: chosen.toolChoice ?? this.#settings.toolChoice,
        ...{ throttle, clock, logger, random },
        adapter: this,
      });
    const held = sections[0]?.files.hold(clock);
    try {
      const code = findCode(sections);
      if (code) return await start(code, given);
      return await startWhenLoaded(prompt, given, { load: () => loadCode(sections), start });
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

  /**
   * Downloads a file that an answer cites. Files in a container are lost when the container expires;
   * downloading them then throws a `ContainerExpiredError`.
   */
  async downloadFile(
    citation: ContainerFileCitation | FileCitation,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Uint8Array> {
    checkKnownKeys(options, "OpenAIAdapter.downloadFile(options)", { signal: true });
    const { signal = new AbortController().signal } = options;
    const { client } = this.#settings;
    const settings = { ...this.#settings, deadline: null, signal };
    try {
      return await retryThrottled(() => downloadCitedFile(citation, client, signal), settings);
    } catch (error) {
      throw error instanceof ThrottleError ? error.cause : error; // this is not part of an evaluation
    }
  }
}

/** Many processes that import this library run no evaluation (decision 98). */
const loop = loadOnce(async () => {
  const modules = [
    import("../adapter/evaluate.ts"),
    import("./conversation/conversation.ts"),
  ] as const;
  const [{ evaluate }, { Conversation }] = await Promise.all(modules);
  return { evaluate, Conversation };
});

/** What runs an evaluation. */
interface EvaluationCode
  extends Pick<typeof import("../adapter/evaluate.ts"), "evaluate">,
    Pick<typeof import("./conversation/conversation.ts"), "Conversation"> {
  readonly workspaces: readonly PromptWorkspace[];
}

/** Returns what runs an evaluation, or `null` if a part of it is not loaded. */
function findCode(sections: readonly FoundWorkspace[]): EvaluationCode | null {
  const workspaces = sections.flatMap(({ path, files: { workspace } }) =>
    workspace ? [{ path, workspace }] : [],
  );
  const isLoaded = workspaces.length === sections.length;
  return loop.value && isLoaded ? { ...loop.value, workspaces } : null;
}

async function loadCode(sections: readonly FoundWorkspace[]): Promise<EvaluationCode> {
  const [code, ...workspaces] = await Promise.all([loop.load(), ...sections.map(loadWorkspace)]);
  return { ...code, workspaces };
}

/** A section of a prompt with a workspace. */
interface FoundWorkspace {
  readonly path: string;
  readonly files: WorkspaceLoader;
}

function findWorkspaces(prompt: Prompt): readonly FoundWorkspace[] {
  const outline = prompt?.template?.outline ?? [];
  return outline.flatMap(({ path, section }) =>
    isContainerSection(section) ? [{ path, files: section.workspace }] : [],
  );
}

async function loadWorkspace({ path, files }: FoundWorkspace): Promise<PromptWorkspace> {
  return { path, workspace: await files.load() };
}

/** Does not import the section's class, which needs Node. */
function isContainerSection(section: Section): section is OpenAIContainerWorkspaceSection {
  return section instanceof MountedSection && section.provider === "openai";
}
