import { expect, onTestFinished } from "vitest";
import type { EvaluateOptions, Prompt, PromptResponse } from "weakincentives";
import { Session } from "weakincentives";
import {
  type LocalModel,
  type LocalProviderOptions,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import { OpenAIAdapter, type OpenAIAdapterOptions, type WireItem } from "weakincentives/openai";
import { fakeClock, type RecordingBus, recordingBus } from "weakincentives/testing";
import { asking, type Stage, stage, vectorStoreOf } from "../local/stage.ts";
import { type clients, testKey } from "../openai-clients.ts";
import type { SeenRequest } from "../wire-server.ts";
import { workspaceSandbox } from "../workspace/stage.ts";
import { relayTo } from "./relay.ts";

/** One of the ways to reach a provider. */
export type Reach = (typeof clients)[number][1];

/** What an example is run with besides its prompt. */
export interface ExampleOptions {
  /** What the model does, all of it. @default nothing: it must not be asked */
  readonly script?: ModelScript | undefined;
  readonly provider?: Omit<LocalProviderOptions, "model"> | undefined;
  readonly adapter?: Partial<OpenAIAdapterOptions> | undefined;
  readonly evaluate?: Partial<EvaluateOptions> | undefined;
}

type RunOptions = Pick<ExampleOptions, "adapter" | "evaluate">;

/** What an example showed on the wire and on the bus. */
interface Shown {
  /** Of every `POST /responses`, in order. */
  readonly bodies: readonly WireItem[];
  readonly requests: readonly SeenRequest[];
  readonly bus: RecordingBus;
  readonly session: Session;
}

/** The local provider for one test, with a key, on a socket: its hosted tools really run. */
export interface Example {
  /** Asks the provider directly, which `requests` do not show. */
  readonly ask: Stage["ask"];
  /** What the adapter asked. */
  readonly requests: readonly SeenRequest[];
  adapter(options?: Partial<OpenAIAdapterOptions>): OpenAIAdapter;
  /** Makes a vector store of texts by their names; gives its id and those of its files. */
  store(texts: Readonly<Record<string, string>>): ReturnType<typeof vectorStoreOf>;
  /** Evaluates a prompt, which must be answered. */
  run<Output>(
    prompt: Prompt<Output>,
    options?: RunOptions,
  ): Promise<Shown & { readonly response: PromptResponse<Output> }>;
  /** The same for a prompt that must fail, and what it failed with. */
  failure(
    prompt: Prompt<unknown>,
    options?: RunOptions,
  ): Promise<Shown & { readonly error: unknown }>;
}

/** Starts a provider that is gone when the test is over; its script must then be used up. */
export async function example(
  reach: Reach,
  { script = [], provider = {} }: Pick<ExampleOptions, "script" | "provider"> = {},
): Promise<Example> {
  const options = {
    sandbox: workspaceSandbox(),
    apiKey: testKey,
    ...provider,
    model: usedUp(script),
  };
  const { url, fetch } = await stage(script, options);
  const relay = await relayTo(url, fetch);
  onTestFinished(async () => {
    await relay[Symbol.asyncDispose]();
    expect(relay.problems).toEqual([]);
  });
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${testKey}`);
    return fetch(input, { ...init, headers });
  };
  const { ask } = asking(withKey, url);
  const adapter: Example["adapter"] = (more = {}) =>
    new OpenAIAdapter({
      model: "gpt-4.1",
      clock: fakeClock({ skipsSleep: true }),
      ...reach(relay.url),
      ...more,
    });

  async function attempt<Output>(prompt: Prompt<Output>, { adapter: own, evaluate }: RunOptions) {
    const bus = recordingBus();
    const session = evaluate?.session ?? new Session({ bus });
    const before = relay.requests.length;
    const evaluation = adapter(own).evaluate(prompt, { ...evaluate, session });
    const [outcome] = await Promise.allSettled([evaluation]);
    const requests = relay.requests.slice(before);
    const bodies = requests.filter(({ path }) => path === "/responses").map(({ body }) => body);
    return { outcome, bodies, requests, bus, session };
  }

  return {
    ask,
    requests: relay.requests,
    adapter,
    store: (texts) => vectorStoreOf({ ask, fetch: withKey, url }, filesOf(texts)),
    async run(prompt, more = {}) {
      const { outcome, ...shown } = await attempt(prompt, more);
      if (outcome.status === "rejected") throw outcome.reason;
      return { ...shown, response: outcome.value };
    },
    async failure(prompt, more = {}) {
      const { outcome, ...shown } = await attempt(prompt, more);
      if (outcome.status === "rejected") return { ...shown, error: outcome.reason };
      throw new Error("It was answered, and should have failed");
    },
  };
}

/** One evaluation on a provider of its own, which must be answered. */
export async function run<Output>(
  reach: Reach,
  prompt: Prompt<Output>,
  options: ExampleOptions = {},
): Promise<Shown & { readonly response: PromptResponse<Output> }> {
  return (await example(reach, options)).run(prompt, options);
}

/** The same for a prompt that must fail. */
export async function failure(
  reach: Reach,
  prompt: Prompt<unknown>,
  options: ExampleOptions = {},
): Promise<Shown & { readonly error: unknown }> {
  return (await example(reach, options)).failure(prompt, options);
}

/** A model whose steps must all have been asked for when the test is over. */
function usedUp(script: ModelScript): LocalModel {
  const model = scriptedModel(script);
  let asked = 0;
  onTestFinished(() => {
    if (typeof script !== "function") expect(asked).toBe(script.length);
  });
  return {
    respond: (request, options) => {
      asked += 1;
      return model.respond(request, options);
    },
  };
}

function filesOf(texts: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text }]));
}
