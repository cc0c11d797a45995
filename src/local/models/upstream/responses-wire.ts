import type { ArrangedTurn } from "./arrange-turns.ts";
import type { ChatFunctions } from "./chat-functions.ts";
import { type ChatPart, joinPartTexts } from "./chat-parts.ts";
import type { ChatCall } from "./chat-turns.ts";
import { readResponse } from "./read-response.ts";
import { readResponseUsage } from "./read-usage.ts";
import { createResponsesStream } from "./responses-stream.ts";
import type { UpstreamInput, UpstreamWire } from "./upstream-wire.ts";

/** The Responses API, with functions only: hosted tools run here, even if the upstream server has its own. */
export const responsesWire: UpstreamWire = Object.freeze({
  path: "/responses",
  createRequest: createResponsesRequest,
  readAnswer: readResponse,
  readUsage: readResponseUsage,
  createStream: createResponsesStream,
});

function createResponsesRequest({
  model,
  system,
  turns,
  functions,
  format,
  stream,
}: UpstreamInput): object {
  return {
    model,
    ...(system !== null && { instructions: system }),
    input: turns.flatMap(toTurnItems),
    ...toResponsesTools(functions),
    ...(format && { text: { format } }),
    store: false,
    stream,
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
