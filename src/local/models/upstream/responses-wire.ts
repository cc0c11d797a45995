import { isPlainObject } from "../../../base/freeze.ts";
import type { ArrangedTurn } from "./arrange-turns.ts";
import type { ChatFunctions } from "./chat-functions.ts";
import { type ChatPart, joinPartTexts } from "./chat-parts.ts";
import type { ChatCall } from "./chat-turns.ts";
import { readResponseUsage } from "./read-usage.ts";
import type { UpstreamAnswer, UpstreamInput, UpstreamWire } from "./upstream-wire.ts";

/** The Responses API, with functions only: hosted tools run here, even if the upstream server has its own. */
export const responsesWire: UpstreamWire = Object.freeze({
  path: "/responses",
  createRequest: createResponsesRequest,
  readAnswer: readResponse,
  readUsage: readResponseUsage,
});

type Json = Readonly<Record<string, unknown>>;

function createResponsesRequest({
  model,
  system,
  turns,
  functions,
  format,
}: UpstreamInput): object {
  return {
    model,
    ...(system !== null && { instructions: system }),
    input: turns.flatMap(toTurnItems),
    ...toResponsesTools(functions),
    ...(format && { text: { format } }),
    store: false,
    stream: false,
  };
}

function toResponsesTools({ all, choice }: ChatFunctions): object {
  if (all.length === 0) return {};
  const tools = all.map(({ name, description, parameters, strict }) => ({
    type: "function",
    name,
    ...(description !== null && { description }),
    parameters,
    strict, // always sent: it defaults to true
  }));
  const named = typeof choice === "string" ? choice : { type: "function", ...choice };
  return { tools, tool_choice: named };
}

function toTurnItems(turn: ArrangedTurn): readonly object[] {
  if (turn.role === "user")
    return [{ type: "message", role: "user", content: turn.parts.map(toResponsesPart) }];
  const { text, calls } = turn;
  const message = { type: "message", role: "assistant", content: text };
  return [
    ...(text === "" && calls.length > 0 ? [] : [message]),
    ...calls.map(({ id, name, args }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: args,
    })),
    ...calls.map(toResultItem),
  ];
}

function toResponsesPart(part: ChatPart): object {
  if ("text" in part) return { type: "input_text", text: part.text };
  return { type: "input_image", image_url: part.image, detail: part.detail ?? "auto" };
}

function toResultItem({ id, result }: ChatCall): object {
  const isText = result.every((part) => "text" in part);
  const output = isText ? joinPartTexts(result) : result.map(toResponsesPart);
  return { type: "function_call_output", call_id: id, output };
}

function readResponse({ output, status }: Json): UpstreamAnswer | string {
  if (status === "failed") return "a response that failed";
  if (!Array.isArray(output)) return "no output";
  const items = output.filter(isPlainObject);
  const messages = items
    .filter(({ type }) => type === "message")
    .flatMap((one) => readContentParts(one, "content"));
  const thoughts = items.filter(({ type }) => type === "reasoning").flatMap(readReasoning);
  return {
    thought: thoughts.join("\n"),
    text: messages.flatMap((part) => readTexts(part, "text")).join(""),
    refusal: messages.flatMap((part) => readTexts(part, "refusal")).join(""),
    calls: items
      .filter(({ type }) => type === "function_call")
      .map(({ name, arguments: args }) => ({ name: String(name ?? ""), args })),
  };
}

/** Returns the reasoning text, or the summary if there is none. */
function readReasoning(item: Json): readonly string[] {
  const content = readContentParts(item, "content");
  const parts = content.length > 0 ? content : readContentParts(item, "summary");
  return parts.flatMap((part) => readTexts(part, "text"));
}

function readContentParts(item: Json, key: string): readonly Json[] {
  const parts = item[key];
  if (typeof parts === "string") return [{ text: parts }];
  return Array.isArray(parts) ? parts.filter(isPlainObject) : [];
}

function readTexts(part: Json, key: string): readonly string[] {
  const text = part[key];
  return typeof text === "string" ? [text] : [];
}
