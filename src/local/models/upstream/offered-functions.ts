import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { FunctionRecord, ToolRecord } from "../../tools/tool-record.ts";
import type { Choice } from "../forced-choice.ts";
import { allowedTools, catalogOf, choiceOf } from "../forced-choice.ts";
import type { ModelRequest } from "../local-model.ts";

/** Everything that an upstream model may call, as functions with distinct names. */
export interface OfferedFunctions {
  readonly all: readonly OfferedFunction[];
  /** The choice for the upstream model; a forced tool is named as it is offered. */
  readonly choice: "auto" | "none" | "required" | { readonly name: string };
  /** Returns the name of a hosted function in this conversation: another one if the client has a function of its name. */
  nameOf(hosted: string): string;
}

/** One function that an upstream model may call. */
export interface OfferedFunction {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: unknown;
  readonly strict: boolean;
  /** `null` for one of the client's own functions. */
  readonly hosted: HostedFunction | null;
}

/** A function that stands for a hosted tool, or for a part of one. */
export interface HostedFunction extends FunctionRecord {
  readonly tool: ToolRecord;
}

/** Returns the client's functions, and the hosted tools as functions. */
export function offeredFunctions(request: ModelRequest): OfferedFunctions {
  const taken = new Set(request.tools.flatMap((tool) => clientFunction(tool)).map(nameIn));
  const nameOf = (hosted: string): string =>
    taken.has(hosted) ? nameOf(`${PREFIX}${hosted}`) : hosted;
  const catalog = catalogOf(request);
  const all = allowedTools(request).flatMap((tool) => [
    ...clientFunction(tool),
    ...hostedFunctions(tool, catalog).map((hosted) => offeredAs(hosted, nameOf(hosted.name))),
  ]);
  const unique = [...new Map(all.map((one) => [one.name, one])).values()];
  return { all: unique, choice: choiceAmong(unique, choiceOf(request), catalog), nameOf };
}

const PREFIX = "hosted_";

function nameIn({ name }: OfferedFunction): string {
  return name;
}

function clientFunction(tool: object): readonly OfferedFunction[] {
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

function hostedFunctions(tool: object, { byType }: ToolCatalog): readonly HostedFunction[] {
  const { type }: { readonly type?: unknown } = tool;
  const known = byType.get(type);
  return known?.functions?.map((one) => ({ ...one, tool: known })) ?? [];
}

function offeredAs(hosted: HostedFunction, name: string): OfferedFunction {
  const { description, parameters } = hosted;
  return { name, description, parameters, strict: false, hosted };
}

function choiceAmong(
  all: readonly OfferedFunction[],
  choice: Choice,
  catalog: ToolCatalog,
): OfferedFunctions["choice"] {
  if (choice.mode !== "one") return choice.mode;
  const wanted = catalog.findKind(choice.type);
  const forced = all.find(({ name, hosted }) =>
    hosted ? hosted.tool.kind === wanted : choice.type === "function" && name === choice.name,
  );
  return forced ? { name: forced.name } : "auto";
}
