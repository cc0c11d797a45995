import { isPlainObject } from "../../../base/freeze.ts";
import type { OfferedFunctions } from "./offered-functions.ts";
import type { SpokenCall, SpokenTurn } from "./spoken-history.ts";
import { type SpokenPart, wordsOf } from "./spoken-parts.ts";
import type { UpstreamAnswer, UpstreamQuestion, UpstreamWire } from "./upstream-wire.ts";

/** Responses, with functions only: hosted tools run here, whatever the upstream has of its own. */
export const responsesWire: UpstreamWire = Object.freeze({
  path: "/responses",
  ask: askResponses,
  read: readResponse,
});

type Json = Readonly<Record<string, unknown>>;

function askResponses({ model, instructions, turns, offered, format }: UpstreamQuestion): object {
  return {
    model,
    ...(instructions !== null && { instructions }),
    input: turns.flatMap(itemsOf),
    ...toolsOf(offered),
    ...(format && { text: { format } }),
    store: false,
    stream: false,
  };
}

function toolsOf({ all, choice }: OfferedFunctions): object {
  if (all.length === 0) return {};
  const tools = all.map(({ name, description, parameters, strict }) => ({
    type: "function",
    name,
    ...(description !== null && { description }),
    parameters,
    strict, // said always: left out, it is taken for true
  }));
  const named = typeof choice === "string" ? choice : { type: "function", ...choice };
  return { tools, tool_choice: named };
}

function itemsOf(turn: SpokenTurn): readonly object[] {
  if (turn.role !== "assistant") {
    return [{ type: "message", role: turn.role, content: turn.parts.map(contentPart) }];
  }
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
    ...calls.map(resultItem),
  ];
}

function contentPart(part: SpokenPart): object {
  if ("text" in part) return { type: "input_text", text: part.text };
  return { type: "input_image", image_url: part.image, detail: part.detail ?? "auto" };
}

function resultItem({ id, result }: SpokenCall): object {
  const isText = result.every((part) => "text" in part);
  const output = isText ? wordsOf(result) : result.map(contentPart);
  return { type: "function_call_output", call_id: id, output };
}

function readResponse({ output, status }: Json): UpstreamAnswer | string {
  if (status === "failed") return "a response that failed";
  if (!Array.isArray(output)) return "no output";
  const items = output.filter(isPlainObject);
  const messages = items
    .filter(({ type }) => type === "message")
    .flatMap((one) => partsOf(one, "content"));
  const thoughts = items.filter(({ type }) => type === "reasoning").flatMap(thoughtsIn);
  return {
    thought: thoughts.join("\n"),
    text: messages.flatMap((part) => textsIn(part, "text")).join(""),
    refusal: messages.flatMap((part) => textsIn(part, "refusal")).join(""),
    calls: items
      .filter(({ type }) => type === "function_call")
      .map(({ name, arguments: args }) => ({ name: String(name ?? ""), args })),
  };
}

/** What it really thought, or else the summary. */
function thoughtsIn(item: Json): readonly string[] {
  const said = partsOf(item, "content");
  const parts = said.length > 0 ? said : partsOf(item, "summary");
  return parts.flatMap((part) => textsIn(part, "text"));
}

function partsOf(item: Json, key: string): readonly Json[] {
  const parts = item[key];
  if (typeof parts === "string") return [{ text: parts }];
  return Array.isArray(parts) ? parts.filter(isPlainObject) : [];
}

function textsIn(part: Json, key: string): readonly string[] {
  const text = part[key];
  return typeof text === "string" ? [text] : [];
}
