import { expect } from "vitest";
import { scriptedModel } from "weakincentives/local";
import type { WireItem } from "../../../src/openai/wire.ts";
import { type ProviderFixture, startProviderFixture } from "./provider-fixture.ts";

/** A model that answers with the texts it reads. */
export const textReader = scriptedModel(({ items }) => [{ say: items.map(readText).join(" ") }]);

/** Returns the text of a message. */
export function readText(item: object): string {
  const { content }: WireItem = { ...item };
  if (typeof content === "string") return content;
  return Array.isArray(content) ? `${Object(content[0]).text}` : "";
}

/** Starts a provider whose model answers with the texts it reads. */
export const startReader = () => startProviderFixture([], { model: textReader });

/** Creates a conversation and returns its id. */
export async function createConversation(
  { ask }: ProviderFixture,
  body: WireItem = {},
): Promise<string> {
  const answer = await ask("POST /conversations", body);
  expect(answer).toMatchObject({ status: 200 });
  return String(answer.body["id"]);
}

/** Lists a conversation's items, oldest first. */
export async function listItems(
  { ask }: ProviderFixture,
  id: string,
): Promise<readonly WireItem[]> {
  const { body } = await ask(`GET /conversations/${id}/items?order=asc&limit=100`);
  return body["data"] as readonly WireItem[];
}

/** Lists the texts of a conversation's messages, oldest first. */
export async function listTexts(on: ProviderFixture, id: string): Promise<readonly string[]> {
  return (await listItems(on, id)).map(readText);
}

/** Creates a user message. */
export const createMessage = (content: string, more: WireItem = {}) => ({
  type: "message",
  role: "user",
  content,
  ...more,
});
