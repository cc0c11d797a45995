import { expect, onTestFinished } from "vitest";
import {
  type LocalModel,
  LocalProvider,
  type LocalProviderOptions,
  type ModelRequest,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import type { WireItem } from "../../../src/openai/wire.ts";
import { createRequester } from "./provider-fixture.ts";

/** The messages of a request that a test does not care about. */
export const chatMessages = [{ role: "user", content: "How many owls?" }];

/** A function tool of chat completions. */
export const chatLook = {
  type: "function",
  function: { name: "look", parameters: { type: "object" } },
};

/** Another function tool of chat completions. */
export const chatHear = { type: "function", function: { name: "hear" } };

/** Creates a provider in process that is disposed when the test ends, and a function that sends it chat completions. */
export function startChatProvider(
  script: ModelScript | LocalModel,
  options: LocalProviderOptions = {},
) {
  const model = "respond" in script ? script : scriptedModel(script);
  const provider = new LocalProvider({ model, ...options });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { ask } = createRequester(provider.fetch, "http://local/v1");
  const complete = (body: WireItem = {}) =>
    ask("POST /chat/completions", { model: "any", messages: chatMessages, ...body });
  return { provider, ask, complete };
}

/** Creates a provider whose model answers with JSON of a part of its request, and a function that reads it. */
export function startChatMirror(read: (request: ModelRequest) => unknown) {
  const { complete } = startChatProvider((request) => [{ say: JSON.stringify(read(request)) }]);
  return async (body: WireItem): Promise<unknown> => {
    const { status, body: completion } = await complete(body);
    expect({ status, completion }).toMatchObject({ status: 200 });
    return JSON.parse(String(readChatMessage(completion)["content"]));
  };
}

/** Returns the only choice of a completion or chunk. */
export function readChatChoice(completion: WireItem): WireItem {
  return (completion["choices"] as readonly WireItem[])[0] ?? {};
}

/** Returns the message of a completion. */
export function readChatMessage(completion: WireItem): WireItem {
  return readChatChoice(completion)["message"] as WireItem;
}

/** Parses the chunks of a stream. */
export function parseChatChunks(text: unknown): readonly WireItem[] {
  return String(text)
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)));
}
