import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { FunctionRecord, ToolRecord } from "../../tools/tool-record.ts";
import type { ModelRequest } from "../local-model.ts";
import type { Choice } from "../resolve-choice.ts";
import { getCatalog, resolveChoice, selectAllowed } from "../resolve-choice.ts";

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

/** One function that an upstream model may call. */
export interface ChatFunction {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: unknown;
  readonly strict: boolean;
  /** The hosted tool's function, or `null` for a function of the client. */
  readonly hosted: HostedFunction | null;
}

/** A function that represents a hosted tool or a part of one. */
export interface HostedFunction extends FunctionRecord {
  readonly tool: ToolRecord;
}

/** Returns the client's functions, and the hosted tools as functions. */
export function createChatFunctions(request: ModelRequest): ChatFunctions {
  const taken = new Set(
    request.tools.flatMap((tool) => toClientFunction(tool)).map(getFunctionName),
  );
  const getName = (hosted: string): string =>
    taken.has(hosted) ? getName(`${PREFIX}${hosted}`) : hosted;
  const catalog = getCatalog(request);
  const all = selectAllowed(request).flatMap((tool) => [
    ...toClientFunction(tool),
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

function toClientFunction(tool: object): readonly ChatFunction[] {
  const { type, name, description, parameters, strict }: Readonly<Record<string, unknown>> = {
    ...tool,
  };
  if (type !== "function" || typeof name !== "string") return [];
  return [
    {
      name,
      description: typeof description === "string" ? description : null,
      parameters: parameters ?? { type: "object", properties: {} },
      strict: strict === true,
      hosted: null,
    },
  ];
}

function listHostedFunctions(tool: object, { byType }: ToolCatalog): readonly HostedFunction[] {
  const { type }: { readonly type?: unknown } = tool;
  const known = byType.get(type);
  return known?.functions?.map((one) => ({ ...one, tool: known })) ?? [];
}

function toChatFunction(hosted: HostedFunction, name: string): ChatFunction {
  const { description, parameters } = hosted;
  return { name, description, parameters, strict: false, hosted };
}

function toFunctionChoice(
  all: readonly ChatFunction[],
  choice: Choice,
  catalog: ToolCatalog,
): ChatFunctions["choice"] {
  if (choice.mode !== "one") return choice.mode;
  const wanted = catalog.findKind(choice.type);
  const forced = all.find(({ name, hosted }) =>
    hosted ? hosted.tool.kind === wanted : choice.type === "function" && name === choice.name,
  );
  return forced ? { name: forced.name } : "auto";
}
