import { isPlainObject } from "../../../base/freeze.ts";
import type { OfferedFunctions } from "./offered-functions.ts";
import type { SpokenCall, SpokenTurn } from "./spoken-history.ts";
import { type SpokenPart, wordsOf } from "./spoken-parts.ts";
import type {
  UpstreamAnswer,
  UpstreamCall,
  UpstreamQuestion,
  UpstreamWire,
} from "./upstream-wire.ts";

/** Chat completions: what nearly every model server speaks. */
export const chatWire: UpstreamWire = Object.freeze({
  path: "/chat/completions",
  ask: askChat,
  read: readChat,
});

type Json = Readonly<Record<string, unknown>>;

function askChat({ model, instructions, turns, offered, format }: UpstreamQuestion): object {
  const system = instructions === null ? [] : [{ role: "system", content: instructions }];
  const responseFormat = formatOf(format);
  return {
    model,
    messages: [...system, ...turns.flatMap(messagesOf)],
    ...toolsOf(offered),
    ...(responseFormat && { response_format: responseFormat }),
    stream: false,
  };
}

function toolsOf({ all, choice }: OfferedFunctions): object {
  if (all.length === 0) return {};
  const tools = all.map(({ name, description, parameters, strict }) => ({
    type: "function",
    function: {
      name,
      ...(description !== null && { description }),
      parameters,
      ...(strict && { strict }), // not every server knows the word
    },
  }));
  const named = typeof choice === "string" ? choice : { type: "function", function: choice };
  return { tools, tool_choice: named };
}

function formatOf(format: Json | null): object | null {
  if (format?.["type"] === "json_object") return { type: "json_object" };
  if (format?.["type"] !== "json_schema") return null;
  const { type, ...described } = format;
  return { type, json_schema: described };
}

function messagesOf(turn: SpokenTurn): readonly object[] {
  if (turn.role !== "assistant") {
    // Servers with templates of their own know no developer.
    const role = turn.role === "user" ? "user" : "system";
    return [{ role, content: contentOf(turn.parts) }];
  }
  const { text, calls } = turn;
  if (calls.length === 0) return [{ role: "assistant", content: text }];
  const content = text === "" ? null : text;
  return [
    { role: "assistant", content, tool_calls: calls.map(toolCall) },
    ...calls.map(({ id, result }) => ({
      role: "tool",
      tool_call_id: id,
      content: wordsOf(result),
    })),
    ...picturesOf(calls),
  ];
}

/** Plain text where it can be: servers of models without eyes know nothing else. */
function contentOf(parts: readonly SpokenPart[]): unknown {
  return parts.every((part) => "text" in part) ? wordsOf(parts) : parts.map(contentPart);
}

function contentPart(part: SpokenPart): object {
  if ("text" in part) return { type: "text", text: part.text };
  const { image: url, detail } = part;
  return { type: "image_url", image_url: { url, ...(detail !== null && { detail }) } };
}

function toolCall({ id, name, args }: SpokenCall): object {
  return { id, type: "function", function: { name, arguments: args } };
}

/** A tool's message can only be text: pictures come after, as if the user showed them. */
function picturesOf(calls: readonly SpokenCall[]): readonly object[] {
  const pictures = calls.flatMap(({ result }) => result.filter((part) => "image" in part));
  if (pictures.length === 0) return [];
  const text = "Pictures from the results above:";
  return [{ role: "user", content: [{ type: "text", text }, ...pictures.map(contentPart)] }];
}

function readChat({ choices }: Json): UpstreamAnswer | string {
  const [choice]: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const message = isPlainObject(choice) ? choice["message"] : undefined;
  if (!isPlainObject(message)) return "no choice with a message";
  const { content, refusal, reasoning_content: thought, reasoning, tool_calls: calls } = message;
  return {
    thought: textOf(thought ?? reasoning),
    text: textOf(content),
    refusal: textOf(refusal),
    calls: Array.isArray(calls) ? calls.filter(isPlainObject).map(callOf) : [],
  };
}

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isPlainObject) : [];
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("");
}

function callOf({ function: called }: Json): UpstreamCall {
  const { name, arguments: args } = isPlainObject(called) ? called : {};
  return { name: String(name ?? ""), args };
}
