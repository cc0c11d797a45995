import { fieldsOf, type JsonSchema } from "../../base/schema/schema.ts";
import type { NativeTool } from "../../tools/native-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";

/**
 * What makes a native tool's params unfit for the calls of its kind; `null` if nothing does. What
 * the calls do not hold may only be declared as optional.
 */
export function nativeParamsProblem(tool: NativeTool, codec: HostedToolCodec): string | null {
  if (codec.params === undefined) return null;
  const held = new Map<string, string>(Object.entries(codec.params));
  const fields = fieldsOf(tool.paramsSchema);
  const required = requiredBy(tool.paramsSchema);
  for (const name of new Set([...fields.keys(), ...required])) {
    const types = typesOf(fields.get(name) ?? {});
    const type = held.get(name);
    const isMissing = type === undefined && required.includes(name);
    const isOther = type !== undefined && types.length > 0 && !types.some((one) => fits(one, type));
    if (!isMissing && !isOther) continue;
    const declared = `declares the param "${name}" ${types.length > 0 ? `as ${types.join(" or ")}` : "as required"}`;
    const remedy = isMissing ? "leave it out, or make it optional" : `declare it as ${type}`;
    return `NativeTool "${tool.name}" ${declared}, and calls of "${codec.kind}" hold ${contents(held)}: ${remedy}`;
  }
  return null;
}

function requiredBy({ required }: JsonSchema & { readonly required?: unknown }): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** None if the schema does not say: it may then be anything. */
function typesOf({ type }: JsonSchema & { readonly type?: unknown }): readonly string[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((one) => typeof one === "string");
}

function fits(declared: string, held: string): boolean {
  return declared === held || (isNumeric(declared) && isNumeric(held));
}

function isNumeric(type: string): boolean {
  return type === "integer" || type === "number";
}

function contents(held: ReadonlyMap<string, string>): string {
  return [...held].map(([name, type]) => `"${name}" (${type})`).join(", ") || "no params";
}
