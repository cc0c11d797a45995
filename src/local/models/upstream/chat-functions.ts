import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { ModelRequest } from "../local-model.ts";
import type { Choice } from "../resolve-choice.ts";
import { getCatalog, resolveChoice, selectAllowed } from "../resolve-choice.ts";
import type { ChatFunction, HostedFunction } from "./chat-function.ts";
import { toClientFunctions } from "./client-functions.ts";

/** All functions that an upstream model may call, with distinct names. */
export interface ChatFunctions {
  readonly all: readonly ChatFunction[];
  /** The tool choice for the upstream model. A forced tool has its offered name. */
  readonly choice: "auto" | "none" | "required" | { readonly name: string };
  /**
   * Returns a hosted function's offered name. It has a prefix if the client has a function with the same
   * name.
   */
  getName(hosted: string): string;
}

/** Returns the client's functions, and the hosted tools as functions. */
export function createChatFunctions(request: ModelRequest): ChatFunctions {
  const taken = new Set(
    request.tools.flatMap((tool) => toClientFunctions(tool)).map(getFunctionName),
  );
  const getName = (hosted: string): string =>
    taken.has(hosted) ? getName(`${PREFIX}${hosted}`) : hosted;
  const catalog = getCatalog(request);
  const all = selectAllowed(request).flatMap((tool) => [
    ...toClientFunctions(tool),
    ...listHostedFunctions(tool, catalog).map((hosted) =>
      toChatFunction(hosted, getName(hosted.name)),
    ),
  ]);
  const unique = [...new Map(all.map((one) => [one.name, one])).values()];
  return {
    all: unique,
    choice: toFunctionChoice(unique, resolveChoice(request), catalog),
    getName,
  };
}

const PREFIX = "hosted_";

function getFunctionName({ name }: ChatFunction): string {
  return name;
}

function listHostedFunctions(tool: object, { byType }: ToolCatalog): readonly HostedFunction[] {
  const entry: Readonly<Record<string, unknown>> = { ...tool };
  const known = byType.get(entry["type"]);
  if (!known) return [];
  const functions = known.toFunctions?.(entry) ?? known.functions ?? [];
  return functions.map((one) => ({ ...one, tool: known }));
}

function toChatFunction(hosted: HostedFunction, name: string): ChatFunction {
  const { description, parameters } = hosted;
  return { name, description, parameters, strict: false, isCustom: false, hosted };
}

function toFunctionChoice(
  all: readonly ChatFunction[],
  choice: Choice,
  catalog: ToolCatalog,
): ChatFunctions["choice"] {
  if (choice.mode !== "one") return choice.mode;
  const wanted = catalog.findKind(choice.type);
  const forced = all.find(({ name, hosted, isCustom }) =>
    hosted
      ? hosted.tool.kind === wanted
      : choice.type === (isCustom ? "custom" : "function") && name === choice.name,
  );
  return forced ? { name: forced.name } : "auto";
}
