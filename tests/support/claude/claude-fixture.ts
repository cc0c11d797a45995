import { onTestFinished } from "vitest";
import {
  type EvaluateOptions,
  type Logger,
  MarkdownSection,
  type MarkdownSectionOptions,
  Prompt,
  type PromptResponse,
  PromptTemplate,
  type Section,
  Session,
} from "weakincentives";
import {
  ClaudeAgentSDKAdapter,
  type ClaudeAgentSDKAdapterOptions,
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "weakincentives/claude";
import {
  LocalProvider,
  type LocalProviderOptions,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import { fakeClock, recordingBus } from "weakincentives/testing";
import { startRelay } from "../specs/recording-relay.ts";
import { type Tree, temporaryTree } from "../temporary-tree.ts";
import { type MessagesScript, startMessagesServer } from "./messages-server.ts";

type UnknownRecord = Readonly<Record<string, unknown>>;
type Parts = Partial<MarkdownSectionOptions<object, object, never, never>>;

/** The API key. Every request must have it, and it must not appear anywhere else. */
export const KEY = "sk-ant-stage-0123456789";

/** Creates a prompt with a task `Go.`, after these sections. `parts` are options of the task section. */
export function createPrompt(parts: Parts = {}, sections: readonly Section[] = []): Prompt<string> {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Go.", ...parts });
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [...sections, task] }));
}

/** A model's base URL, and the requests that it received in Anthropic's format. */
export interface ModelEndpoint {
  readonly baseURL: string;
  readonly requests: readonly { readonly body: UnknownRecord; readonly text: string }[];
}

/** Starts a local provider with a scripted model on a socket, and closes it when the test ends. */
export async function startLocalModel(
  script: ModelScript,
  options: Omit<LocalProviderOptions, "model"> = {},
): Promise<ModelEndpoint> {
  const provider = new LocalProvider({ ...options, model: scriptedModel(script) });
  const relay = await startRelay((await provider.listen()).url, globalThis.fetch);
  onTestFinished(async () => {
    await relay[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });
  return { baseURL: relay.url.replace(/\/v1$/, ""), requests: relay.requests };
}

/** Starts a server that plays a script in Anthropic's format, and closes it when the test ends. */
export async function startScriptedServer(script: MessagesScript): Promise<ModelEndpoint> {
  const server = await startMessagesServer(script);
  onTestFinished(() => server.close());
  return { baseURL: server.url, requests: server.requests };
}

/** Options of a fixture's runs. */
export interface RunOptions {
  readonly adapter?: ClaudeAgentSDKAdapterOptions;
  readonly evaluate?: Partial<EvaluateOptions>;
}

/** Creates a session with recorded events, and adapters on the real SDK to run its prompts. */
export function createFixture(place: ModelEndpoint, shared: { readonly session?: Session } = {}) {
  const bus = recordingBus();
  const session = shared.session ?? new Session({ bus });
  const logLines: string[] = [];
  const clock = fakeClock({ skipsSleep: true });
  const createAdapter = ({ isolation, ...more }: ClaudeAgentSDKAdapterOptions = {}) =>
    new ClaudeAgentSDKAdapter({
      isolation: { apiKey: KEY, baseURL: place.baseURL, ...isolation },
      clock,
      logger: createLogger(logLines),
      ...more,
    });
  return {
    ...place,
    ...{ bus, session, logLines, clock },
    /** Evaluates a prompt. */
    async run<Output>(prompt: Prompt<Output>, options: RunOptions = {}) {
      const adapter = createAdapter(options.adapter);
      return await adapter.evaluate(prompt, { session, ...options.evaluate });
    },
    /** Evaluates a prompt that must fail, and returns the error. */
    async runToError(prompt: Prompt<unknown>, options: RunOptions = {}) {
      const [done] = await Promise.allSettled([this.run(prompt, options)]);
      if (done.status === "rejected") return done.reason as Error & UnknownRecord;
      throw new Error(
        `The evaluation succeeded: ${JSON.stringify(done.value satisfies PromptResponse<unknown>)}`,
      );
    },
    /** Creates a workspace with these files, and cleans it up when the test ends. */
    createWorkspace(
      tree: Tree = {},
      options: Partial<ClaudeAgentWorkspaceSectionOptions> = {},
    ): ClaudeAgentWorkspaceSection {
      const mounts = [{ hostPath: temporaryTree(tree), mountPath: "." }];
      const section = new ClaudeAgentWorkspaceSection({ session, mounts, ...options });
      onTestFinished(async () => void (await section.cleanup()));
      return section;
    },
  };
}

/** Creates a fixture on the local provider. */
export async function createLocalFixture(
  script: ModelScript,
  options: Omit<LocalProviderOptions, "model"> = {},
) {
  return createFixture(await startLocalModel(script, options));
}

/** Creates a fixture on a server that plays a script in Anthropic's format. */
export async function createServerFixture(script: MessagesScript) {
  return createFixture(await startScriptedServer(script));
}

/** Returns the last message of the last request, as JSON. */
export function readLastMessage({ requests }: Pick<ModelEndpoint, "requests">): string {
  const messages = requests.at(-1)?.body["messages"];
  return JSON.stringify(Array.isArray(messages) ? messages.at(-1) : null);
}

function createLogger(lines: string[]): Logger {
  const log = (level: string) => (message: string, facts?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(facts ?? {})}`);
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
