import { fileURLToPath } from "node:url";
import type { Metric } from "./metrics.ts";

/** A way to run the scenarios: this library, another one, or code by hand. */
export interface Client {
  readonly name: string;
  /** The folder of its `client.mjs`, with `node_modules` if it has its own packages. */
  readonly folder: string;
  /** How this library receives responses. @default "stream" */
  readonly delivery?: "buffered";
  /** Metrics that it does not have. */
  readonly skips: readonly Metric[];
}

const createClient = (
  name: string,
  { folder = name, ...options }: Partial<Client> = {},
): Client => ({
  name,
  folder: fileURLToPath(new URL(`clients/${folder}`, import.meta.url)),
  skips: [],
  ...options,
});

/** This library with its default, streamed responses. It always sends the whole conversation. */
export const ours = createClient("weakincentives", { skips: ["long400prev"] });

/** This library with `delivery: "buffered"`. Its deltas cannot be read. */
export const buffered = createClient("weakincentives, buffered", {
  folder: "weakincentives",
  delivery: "buffered",
  skips: ["long400prev", "stream"],
});

/** The reference: `fetch` and a loop by hand. */
export const rawFetch = createClient("raw-fetch");

/** The lowest cost that is possible: `node:http`, and each item of the conversation serialized once. */
export const rawHttp = createClient("raw-http", { skips: ["unread"] });

/** Other SDKs, each with its own packages: a row of the report is compared with the best of them. */
export const peers: readonly Client[] = [
  createClient("raw-openai", { skips: ["unread"] }),
  createClient("ai-sdk", { skips: ["unread"] }),
  createClient("openai-agents", { skips: ["unread"] }),
  createClient("langchain", { skips: ["unread"] }),
  createClient("mastra", { skips: ["unread", "long400prev"] }),
];
