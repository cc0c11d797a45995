import OpenAI from "openai";
import type { OpenAIAdapterOptions } from "weakincentives/openai";
import type { OpenAIClient } from "../../src/openai/http/client.ts";
import { openAIClient } from "../../src/openai/http/http-client.ts";

/** The API key of the tests. It must appear only in request headers. */
export const testKey = "sk-test-0123456789abcdef";

const allClients: readonly (readonly [string, (url: string) => ClientOptions])[] = [
  ["the built-in client", (baseURL) => ({ clientConfig: { apiKey: testKey, baseURL } })],
  [
    "the built-in client over fetch",
    (baseURL) => ({ clientConfig: { apiKey: testKey, baseURL, fetch } }),
  ],
  ["the official client", (baseURL) => ({ client: new OpenAI({ apiKey: testKey, baseURL }) })],
];

/**
 * Every kind of client an adapter can use. Quick tests use only the first; `npm run test:all` uses
 * all of them.
 */
export const clients: typeof allClients =
  process.env["WINK_TEST_MODE"] === "all" ? allClients : allClients.slice(0, 1);

type ClientOptions = Pick<OpenAIAdapterOptions, "client" | "clientConfig">;

/** The same kinds, as client factories. */
export const clientFactories: readonly (readonly [string, (url: string) => OpenAIClient])[] =
  clients.map(([name, options]) => [
    name,
    (url) => {
      const { client, clientConfig } = options(url);
      return client ?? openAIClient(clientConfig);
    },
  ]);
