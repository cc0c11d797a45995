import { LocalProvider, type LocalProviderOptions } from "../../../src/local/index.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { hostSandbox } from "../host-sandbox.ts";

/** The part of `@anthropic-ai/sdk` that tests use. It is installed together with the Claude Agent SDK. */
export interface AnthropicClient {
  readonly messages: {
    create(body: WireItem): Promise<WireItem>;
    parse(body: WireItem): Promise<WireItem>;
    stream(body: WireItem): { finalMessage(): Promise<WireItem> };
    countTokens(body: WireItem): Promise<WireItem>;
    readonly batches: { create(body: WireItem): Promise<WireItem> };
  };
  readonly models: {
    list(): Promise<WireItem>;
    retrieve(id: string): Promise<WireItem>;
  };
  readonly beta: {
    readonly messages: {
      create(body: WireItem): Promise<WireItem>;
      thread(body: WireItem): AnthropicThread;
      toolRunner(body: WireItem): AnthropicToolRunner;
    };
    readonly files: AnthropicFiles;
  };
}

export interface AnthropicThread {
  send(message: WireItem): Promise<WireItem>;
  stream(message: WireItem): { finalMessage(): Promise<WireItem> };
  readonly messages: readonly WireItem[];
  readonly previousMessageId: string | null;
}

export interface AnthropicToolRunner extends AsyncIterable<unknown>, PromiseLike<WireItem> {
  readonly params: WireItem;
  compactBeforeNextTurn(): void;
  addTools(...tools: readonly object[]): void;
  removeTools(...names: readonly string[]): void;
}

export interface AnthropicFiles {
  upload(body: WireItem): Promise<WireItem>;
  list(): Promise<WireItem>;
  download(id: string): Promise<Response>;
  retrieveMetadata(id: string): Promise<WireItem>;
  delete(id: string): Promise<WireItem>;
}

interface AnthropicModule {
  readonly default: new (options: object) => AnthropicClient;
}

/** Why tests that need `@anthropic-ai/sdk` are skipped; `null` if it is installed. */
export const anthropicMissing: string | null = await loadAnthropic().then(
  () => null,
  (error: Error) => error.message,
);

/** A client of a local provider, and the requests that it sent. */
export interface AnthropicFixture extends AsyncDisposable {
  readonly client: AnthropicClient;
  readonly requests: readonly WireItem[];
}

/** Creates Anthropic's client of a local provider. Call it without retries: every error is shown. */
export async function createAnthropicFixture(
  options: LocalProviderOptions,
): Promise<AnthropicFixture> {
  const { default: Anthropic } = await loadAnthropic();
  const provider = new LocalProvider({ sandbox: hostSandbox(), ...options });
  const requests: WireItem[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (typeof init?.body === "string") requests.push({ ...Object(JSON.parse(init.body)) });
    return await provider.fetch(input, init);
  };
  const client = new Anthropic({ apiKey: "any", maxRetries: 0, fetch, logLevel: "off" });
  return { client, requests, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}

async function loadAnthropic(): Promise<AnthropicModule> {
  const name = "@anthropic-ai/sdk"; // not a dependency: see scripts/install-claude.ts
  return await import(name);
}
