import { isPlainObject } from "../../../base/freeze.ts";
import type { ArrangedTurn } from "./arrange-turns.ts";
import type { ChatFunctions } from "./chat-functions.ts";
import { type ChatPart, joinPartTexts } from "./chat-parts.ts";
import { createChatStream } from "./chat-stream.ts";
import type { ChatCall } from "./chat-turns.ts";
import { readChatUsage } from "./read-usage.ts";
import type { UpstreamAnswer, UpstreamCall } from "./upstream-answer.ts";
import type { UpstreamInput, UpstreamWire } from "./upstream-wire.ts";

/** The chat completions API, which nearly every model server has. */
export const chatWire: UpstreamWire = Object.freeze({
  path: "/chat/completions",
  createRequest: createChatRequest,
  readAnswer: readChat,
  readUsage: readChatUsage,
  createStream: createChatStream,
});

type Json = Readonly<Record<string, unknown>>;

function createChatRequest(input: UpstreamInput): object {
  const { model, system, turns, functions, format, stream } = input;
  const first = system === null ? [] : [{ role: "system", content: system }];
  const responseFormat = toResponseFormat(format);
  return {
    model,
    messages: [...first, ...turns.flatMap(toMessages)],
    ...toChatTools(functions),
    ...(responseFormat && { response_format: responseFormat }),
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
  };
}

function toChatTools({ all, choice }: ChatFunctions): object {
  if (all.length === 0) return {};
  const tools = all.map(({ name, description, parameters, strict }) => ({
    type: "function",
    function: {
      name,
      ...(description !== null && { description }),
      parameters,
      ...(strict && { strict }), // some servers reject the field
    },
  }));
  const named = typeof choice === "string" ? choice : { type: "function", function: choice };
  return { tools, tool_choice: named };
}

function toResponseFormat(format: Json | null): object | null {
  if (format?.["type"] === "json_object") return { type: "json_object" };
  if (format?.["type"] !== "json_schema") return null;
  const { type, ...described } = format;
  return { type, json_schema: described };
}

function toMessages(turn: ArrangedTurn): readonly object[] {
  if (turn.role === "user") return [{ role: "user", content: toContent(turn.parts) }];
  const { text, calls } = turn;
  if (calls.length === 0) return [{ role: "assistant", content: text }];
  const content = text === "" ? null : text;
  return [
    { role: "assistant", content, tool_calls: calls.map(toChatCall) },
    ...calls.map(({ id, result }) => ({
      role: "tool",
      tool_call_id: id,
      content: joinPartTexts(result),
    })),
    ...createImageMessages(calls),
  ];
}

/** Returns a plain string if possible: servers of text-only models accept nothing more. */
function toContent(parts: readonly ChatPart[]): unknown {
  return parts.every((part) => "text" in part) ? joinPartTexts(parts) : parts.map(toChatPart);
}

function toChatPart(part: ChatPart): object {
  if ("text" in part) return { type: "text", text: part.text };
  const { image: url, detail } = part;
  return { type: "image_url", image_url: { url, ...(detail !== null && { detail }) } };
}

function toChatCall({ id, name, args }: ChatCall): object {
  return { id, type: "function", function: { name, arguments: args } };
}

/** A tool message can only contain text, so images follow in a user message. */
function createImageMessages(calls: readonly ChatCall[]): readonly object[] {
  const pictures = calls.flatMap(({ result }) => result.filter((part) => "image" in part));
  if (pictures.length === 0) return [];
  const text = "Images from the results above:";
  return [{ role: "user", content: [{ type: "text", text }, ...pictures.map(toChatPart)] }];
}

function readChat({ choices }: Json): UpstreamAnswer | string {
  const [choice]: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const message = isPlainObject(choice) ? choice["message"] : undefined;
  if (!isPlainObject(message)) return "no choice with a message";
  const { content, refusal, reasoning_content: thought, reasoning, tool_calls: calls } = message;
  return {
    thought: joinTexts(thought ?? reasoning),
    text: joinTexts(content),
    refusal: joinTexts(refusal),
    calls: Array.isArray(calls) ? calls.filter(isPlainObject).map(readChatCall) : [],
  };
}

/** Returns a string, or the joined texts of an array of parts. */
function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isPlainObject) : [];
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("");
}

function readChatCall({ function: called }: Json): UpstreamCall {
  const { name, arguments: args } = isPlainObject(called) ? called : {};
  return { name: String(name ?? ""), args };
}
