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
import { relayTo } from "../specs/relay.ts";
import { type Tree, temporaryTree } from "../temporary-tree.ts";
import { type MessagesScript, messagesServer } from "./messages-server.ts";

type Given = Readonly<Record<string, unknown>>;
type Parts = Partial<MarkdownSectionOptions<object, object, never, never>>;

/** The key that every request of a stage must have, and that nothing else may show. */
export const KEY = "sk-ant-stage-0123456789";

/** A prompt that says `Go.`, with these tools, and more sections before that. */
export function promptOf(parts: Parts = {}, sections: readonly Section[] = []): Prompt<string> {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Go.", ...parts });
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [...sections, task] }));
}

/** Where a model is, and what it was asked, in Anthropic's words. */
export interface ModelPlace {
  readonly baseURL: string;
  readonly requests: readonly { readonly body: Given; readonly text: string }[];
}

/** The local provider on a socket, whose model plays the script; it is gone when the test is over. */
export async function localPlace(
  script: ModelScript,
  options: Omit<LocalProviderOptions, "model"> = {},
): Promise<ModelPlace> {
  const provider = new LocalProvider({ ...options, model: scriptedModel(script) });
  const relay = await relayTo((await provider.listen()).url, globalThis.fetch);
  onTestFinished(async () => {
    await relay[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });
  return { baseURL: relay.url.replace(/\/v1$/, ""), requests: relay.requests };
}

/** A server that plays the script in Anthropic's own words. */
export async function wirePlace(script: MessagesScript): Promise<ModelPlace> {
  const server = await messagesServer(script);
  onTestFinished(() => server.close());
  return { baseURL: server.url, requests: server.requests };
}

/** How prompts are run on a stage. */
export interface RunOptions {
  readonly adapter?: ClaudeAgentSDKAdapterOptions;
  readonly evaluate?: Partial<EvaluateOptions>;
}

/** A session, its events, and the adapter on the real SDK that runs its prompts. */
export function stageAt(place: ModelPlace, shared: { readonly session?: Session } = {}) {
  const bus = recordingBus();
  const session = shared.session ?? new Session({ bus });
  const logged: string[] = [];
  const clock = fakeClock({ skipsSleep: true });
  const adapterWith = ({ isolation, ...more }: ClaudeAgentSDKAdapterOptions = {}) =>
    new ClaudeAgentSDKAdapter({
      isolation: { apiKey: KEY, baseURL: place.baseURL, ...isolation },
      clock,
      logger: loggerTo(logged),
      ...more,
    });
  return {
    ...place,
    ...{ bus, session, logged, clock },
    /** Evaluates a prompt, which must be answered. */
    async run<Output>(prompt: Prompt<Output>, options: RunOptions = {}) {
      const adapter = adapterWith(options.adapter);
      return await adapter.evaluate(prompt, { session, ...options.evaluate });
    },
    /** Evaluates one that must fail, and gives what it failed with. */
    async failure(prompt: Prompt<unknown>, options: RunOptions = {}) {
      const [done] = await Promise.allSettled([this.run(prompt, options)]);
      if (done.status === "rejected") return done.reason as Error & Given;
      throw new Error(`It was answered: ${JSON.stringify(done.value satisfies Answered)}`);
    },
    /** Files for the SDK's own tools, whose folder goes with the test. */
    workspace(
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

type Answered = PromptResponse<unknown>;

/** The same on the local provider. */
export async function localStage(
  script: ModelScript,
  options: Omit<LocalProviderOptions, "model"> = {},
) {
  return stageAt(await localPlace(script, options));
}

/** The same on a server that speaks as Anthropic does. */
export async function wireStage(script: MessagesScript) {
  return stageAt(await wirePlace(script));
}

/** What the model was last told, as text. */
export function lastTold({ requests }: Pick<ModelPlace, "requests">): string {
  const messages = requests.at(-1)?.body["messages"];
  return JSON.stringify(Array.isArray(messages) ? messages.at(-1) : null);
}

function loggerTo(lines: string[]): Logger {
  const log = (level: string) => (message: string, facts?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(facts ?? {})}`);
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
