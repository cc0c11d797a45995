import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { toAction } from "../tools/tool-catalog.ts";
import { allowedTools, type Choice, catalogOf, choiceOf } from "./forced-choice.ts";
import type { LocalModel, ModelRequest } from "./local-model.ts";
import { smallestValue } from "./smallest-value.ts";

/**
 * A model that repeats what it was told. With a schema it returns the smallest value that matches, and with a tool
 * that must be called the smallest call. Deterministic: same request, same answer.
 */
export function echoModel(): LocalModel {
  return Object.freeze({ respond: async (request: ModelRequest) => [answerTo(request)] });
}

function answerTo(request: ModelRequest): ModelAction {
  const choice = choiceOf(request);
  const tool = forcedTool(choice, request);
  return (tool && callOf(tool, request)) ?? saying(request);
}

type Tool = Readonly<Record<string, unknown>>;

function forcedTool(choice: Choice, request: ModelRequest): Tool | undefined {
  const plain = allowedTools(request).filter(isPlainObject);
  if (choice.mode === "required") return plain.find(({ type }) => type === "function") ?? plain[0];
  if (choice.mode !== "one") return undefined;
  const { name: named } = choice;
  const catalog = catalogOf(request);
  const wanted = catalog.findKind(choice.type);
  return plain.find(
    ({ type, name }) => catalog.findKind(type) === wanted && (named ?? name) === name,
  );
}

/** Returns the smallest call of a tool, or `undefined` if nothing here can run it. */
function callOf(tool: Tool, request: ModelRequest): ModelAction | undefined {
  const { type, name, parameters } = tool;
  if (type === "function") return { call: { name: String(name), args: smallestArgs(parameters) } };
  const hosted = catalogOf(request).byType.get(type);
  if (!hosted?.run) return undefined;
  const args =
    hosted.echoArgs?.(cut(request.text)) ?? smallestArgs(hosted.functions?.[0]?.parameters);
  return toAction(hosted, args);
}

function smallestArgs(parameters: unknown): WireItem {
  const args = smallestValue(parameters ?? {});
  return isPlainObject(args) ? args : {};
}

function saying({ format, text }: ModelRequest): ModelAction {
  const { type, schema }: Tool = { ...format };
  if (type === "json_object") return { say: {} };
  if (type !== "json_schema") return { say: echo(text) };
  const value = smallestValue(schema);
  if (value === undefined) return { say: {} }; // nothing fits, and something must be said
  return { say: typeof value === "object" && value !== null ? value : JSON.stringify(value) };
}

function echo(text: string): string {
  return `You said: ${cut(text)}`;
}

const LONGEST = 500;

/** By characters, not by their halves. */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join("")}…`;
}
