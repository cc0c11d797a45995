import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { toAction } from "../tools/tool-catalog.ts";
import type { LocalModel, ModelRequest } from "./local-model.ts";
import { type Choice, getCatalog, resolveChoice, selectAllowed } from "./resolve-choice.ts";
import { createSmallestValue } from "./smallest-value.ts";
import { trustModel } from "./trusted-models.ts";

/**
 * A model that repeats the last message. With an answer format it returns the smallest value that matches, and
 * with a forced tool the smallest call. Deterministic: same request, same answer.
 */
export function echoModel(): LocalModel {
  return trustModel(
    Object.freeze({
      respond: async (request: ModelRequest) => [createAnswer(request)],
      mayIgnoreToolChoice: true, // it cannot call every tool
    }),
  );
}

function createAnswer(request: ModelRequest): ModelAction {
  const choice = resolveChoice(request);
  const tool = findForcedTool(choice, request);
  return (tool && createCall(tool, request)) ?? createEcho(request);
}

type Tool = Readonly<Record<string, unknown>>;

function findForcedTool(choice: Choice, request: ModelRequest): Tool | undefined {
  const plain = selectAllowed(request).filter(isPlainObject);
  if (choice.mode === "required") return plain.find(({ type }) => type === "function") ?? plain[0];
  if (choice.mode !== "one") return undefined;
  const { name: named } = choice;
  const catalog = getCatalog(request);
  const wanted = catalog.findKind(choice.type);
  return plain.find(
    ({ type, name }) => catalog.findKind(type) === wanted && (named ?? name) === name,
  );
}

/** Returns the smallest call to a tool, or `undefined` if the server cannot run it. */
function createCall(tool: Tool, request: ModelRequest): ModelAction | undefined {
  const { type, name, parameters } = tool;
  if (type === "function")
    return { call: { name: String(name), args: createSmallestArgs(parameters) } };
  const hosted = getCatalog(request).byType.get(type);
  if (!hosted?.run) return undefined;
  const args =
    hosted.echoArgs?.(truncateEcho(request.text)) ??
    createSmallestArgs(hosted.functions?.[0]?.parameters);
  return toAction(hosted, args);
}

function createSmallestArgs(parameters: unknown): WireItem {
  const args = createSmallestValue(parameters ?? {});
  return isPlainObject(args) ? args : {};
}

function createEcho({ format, text }: ModelRequest): ModelAction {
  const { type, schema }: Tool = { ...format };
  if (type === "json_object") return { say: {} };
  if (type !== "json_schema") return { say: formatEcho(text) };
  const value = createSmallestValue(schema);
  if (value === undefined) return { say: {} }; // no value matches, but the model must answer
  return { say: typeof value === "object" && value !== null ? value : JSON.stringify(value) };
}

function formatEcho(text: string): string {
  return `You said: ${truncateEcho(text)}`;
}

const MAX_ECHO_LENGTH = 500;

/** Truncates by code points, so that no surrogate pair is split. */
function truncateEcho(text: string): string {
  if (text.length <= MAX_ECHO_LENGTH) return text;
  const characters = [...text];
  return characters.length <= MAX_ECHO_LENGTH
    ? text
    : `${characters.slice(0, MAX_ECHO_LENGTH - 1).join("")}…`;
}
