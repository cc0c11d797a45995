import { isPlainObject } from "../../base/freeze.ts";
import type { ModelAction } from "../model-action.ts";
import { allowedTools, type Choice, choiceOf, isOfType } from "./forced-choice.ts";
import type { LocalModel, ModelRequest } from "./local-model.ts";
import { smallestValue } from "./smallest-value.ts";

/**
 * A model that says what it was told, always the same to the same: with a schema the smallest value
 * that fits, with a tool that must be called the smallest call.
 */
export function echoModel(): LocalModel {
  return Object.freeze({ respond: async (request: ModelRequest) => [answerTo(request)] });
}

function answerTo(request: ModelRequest): ModelAction {
  const choice = choiceOf(request);
  const tool = forcedTool(choice, allowedTools(request));
  return (tool && callOf(tool, request.text)) ?? saying(request);
}

type Tool = Readonly<Record<string, unknown>>;

function forcedTool(choice: Choice, tools: readonly object[]): Tool | undefined {
  const plain = tools.filter(isPlainObject);
  if (choice.mode === "required") return plain.find(({ type }) => type === "function") ?? plain[0];
  if (choice.mode !== "one") return undefined;
  const { type: wanted, name: named } = choice;
  return plain.find(({ type, name }) => isOfType(type, wanted) && (named ?? name) === name);
}

function callOf(tool: Tool, text: string): ModelAction | undefined {
  const { type, name, parameters } = tool;
  if (type === "function") {
    const args = smallestValue(parameters ?? {});
    return { call: { name: String(name), args: isPlainObject(args) ? args : {} } };
  }
  if (type === "code_interpreter") return { code: `print(${JSON.stringify(echo(text))})` };
  if (type === "shell") return { shell: ["true"] };
  if (type === "file_search") return { search: { file: cut(text) || "anything" } };
  if (isOfType(type, "web_search")) return { search: { web: cut(text) || "anything" } };
  if (type === "apply_patch") {
    return { patch: [{ type: "create_file", path: "echo.txt", diff: "+You said something.\n" }] };
  }
  return undefined; // nothing that is known here: all that is left is to say something
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
