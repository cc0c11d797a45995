import OpenAI from "openai";
import type { OpenAIAdapterOptions } from "weakincentives/openai";
import type { OpenAIClient } from "../../src/openai/http/client.ts";
import { openAIClient } from "../../src/openai/http/http-client.ts";

/** The key that tests use, and that must not turn up anywhere but in a header. */
export const testKey = "sk-test-0123456789abcdef";

const all: readonly (readonly [string, (url: string) => ClientOptions])[] = [
  ["our client", (baseURL) => ({ clientConfig: { apiKey: testKey, baseURL } })],
  ["our client over fetch", (baseURL) => ({ clientConfig: { apiKey: testKey, baseURL, fetch } })],
  ["the official client", (baseURL) => ({ client: new OpenAI({ apiKey: testKey, baseURL }) })],
];

/**
 * Every way an adapter reaches a provider: what holds for one must hold for all. The quick tests take the
 * first; `npm run test:all` takes all of them.
 */
export const clients: typeof all = process.env["WINK_TEST_MODE"] === "all" ? all : all.slice(0, 1);

type ClientOptions = Pick<OpenAIAdapterOptions, "client" | "clientConfig">;

/** The same ways, as the clients themselves. */
export const madeClients: readonly (readonly [string, (url: string) => OpenAIClient])[] =
  clients.map(([name, options]) => [
    name,
    (url) => {
      const { client, clientConfig } = options(url);
      return client ?? openAIClient(clientConfig);
    },
  ]);
