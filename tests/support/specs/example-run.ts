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
import {
  createRequester,
  createVectorStore,
  type ProviderFixture,
  startProviderFixture,
} from "../local/provider-fixture.ts";
import { type clients, testKey } from "../openai-clients.ts";
import type { SeenRequest } from "../wire-server.ts";
import { workspaceSandbox } from "../workspace/workspace-fixture.ts";
import { startRelay } from "./recording-relay.ts";

/** A way to connect to a provider. */
export type Reach = (typeof clients)[number][1];

/** Options of an example in addition to its prompt. */
export interface ExampleOptions {
  /** All actions of the model. @default none: the model must not be called */
  readonly script?: ModelScript | undefined;
  readonly provider?: Omit<LocalProviderOptions, "model"> | undefined;
  readonly adapter?: Partial<OpenAIAdapterOptions> | undefined;
  readonly evaluate?: Partial<EvaluateOptions> | undefined;
}

type RunOptions = Pick<ExampleOptions, "adapter" | "evaluate">;

/** The requests and events of an example. */
interface Shown {
  /** Bodies of every `POST /responses`, in order. */
  readonly bodies: readonly WireItem[];
  readonly requests: readonly SeenRequest[];
  readonly bus: RecordingBus;
  readonly session: Session;
}

/** The local provider for one test, with a key, on a socket. Its hosted tools really run. */
export interface Example {
  /** Sends a request directly to the provider, which `requests` does not show. */
  readonly ask: ProviderFixture["ask"];
  /** Requests of the adapter. */
  readonly requests: readonly SeenRequest[];
  adapter(options?: Partial<OpenAIAdapterOptions>): OpenAIAdapter;
  /** Creates a vector store of texts by their names. Returns its id and its file ids. */
  store(texts: Readonly<Record<string, string>>): ReturnType<typeof createVectorStore>;
  /** Evaluates a prompt. The evaluation must succeed. */
  run<Output>(
    prompt: Prompt<Output>,
    options?: RunOptions,
  ): Promise<Shown & { readonly response: PromptResponse<Output> }>;
  /** Evaluates a prompt. Returns the error of the evaluation, which must fail. */
  failure(
    prompt: Prompt<unknown>,
    options?: RunOptions,
  ): Promise<Shown & { readonly error: unknown }>;
}

/** Starts a provider that stops at the end of the test. Its script must then be used up. */
export async function startExample(
  reach: Reach,
  { script = [], provider = {} }: Pick<ExampleOptions, "script" | "provider"> = {},
): Promise<Example> {
  const options = {
    sandbox: workspaceSandbox(),
    apiKey: testKey,
    ...provider,
    model: createUsedUpModel(script),
  };
  const { url, fetch } = await startProviderFixture(script, options);
  const relay = await startRelay(url, fetch);
  onTestFinished(async () => {
    await relay[Symbol.asyncDispose]();
    expect(relay.problems).toEqual([]);
  });
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${testKey}`);
    return fetch(input, { ...init, headers });
  };
  const { ask } = createRequester(withKey, url);
  const adapter: Example["adapter"] = (more = {}) =>
    new OpenAIAdapter({
      model: "gpt-4.1",
      clock: fakeClock({ skipsSleep: true }),
      ...reach(relay.url),
      ...more,
    });

  async function evaluatePrompt<Output>(
    prompt: Prompt<Output>,
    { adapter: own, evaluate }: RunOptions,
  ) {
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
    store: (texts) => createVectorStore({ ask, fetch: withKey, url }, toFiles(texts)),
    async run(prompt, more = {}) {
      const { outcome, ...shown } = await evaluatePrompt(prompt, more);
      if (outcome.status === "rejected") throw outcome.reason;
      return { ...shown, response: outcome.value };
    },
    async failure(prompt, more = {}) {
      const { outcome, ...shown } = await evaluatePrompt(prompt, more);
      if (outcome.status === "rejected") return { ...shown, error: outcome.reason };
      throw new Error("It was answered, and should have failed");
    },
  };
}

/** Runs one evaluation on a new provider. The evaluation must succeed. */
export async function runExample<Output>(
  reach: Reach,
  prompt: Prompt<Output>,
  options: ExampleOptions = {},
): Promise<Shown & { readonly response: PromptResponse<Output> }> {
  return (await startExample(reach, options)).run(prompt, options);
}

/** Runs one evaluation on a new provider. Returns the error of the evaluation, which must fail. */
export async function runFailure(
  reach: Reach,
  prompt: Prompt<unknown>,
  options: ExampleOptions = {},
): Promise<Shown & { readonly error: unknown }> {
  return (await startExample(reach, options)).failure(prompt, options);
}

/** Creates a model whose steps must all have been used at the end of the test. */
function createUsedUpModel(script: ModelScript): LocalModel {
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

function toFiles(texts: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text }]));
}
