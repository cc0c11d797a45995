import { type Schema, validate } from "../../base/schema/schema.ts";
import type { Validation } from "../../base/schema/validation.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { Tool } from "../../tools/tool.ts";

/**
 * Parses a provider's output with its tool's result schema. A native tool may declare the
 * parsed output, the provider's item, or the item as `payload`: the first form with all fields that
 * the schema requires is used.
 */
export async function parseDeclaredOutput(
  tool: Tool,
  schema: Schema,
  { output, item }: { readonly output: unknown; readonly item: object },
): Promise<Validation<unknown>> {
  return await validate(schema, selectForm(tool, output, item));
}

/** Parses a provider's output with its tool's result schema. Without one, the output is the result. */
export async function parseHostedOutput(
  tool: Tool | null,
  output: unknown,
  item: object,
): Promise<Validation<unknown>> {
  if (output === null || !tool?.result) return { ok: true, value: output };
  return await parseDeclaredOutput(tool, tool.result, { output, item });
}

function selectForm(tool: Tool, output: unknown, item: object): unknown {
  if (!(tool instanceof NativeTool)) return output;
  const required: unknown = tool.resultSchema?.["required"];
  const fields = Array.isArray(required) ? required : [];
  const forms: readonly unknown[] = [output, item, { payload: item }];
  return (
    forms.find((form) => fields.every((field) => Object.hasOwn(Object(form), field))) ?? output
  );
}
