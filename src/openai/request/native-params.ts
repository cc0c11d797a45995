import { type JsonSchema, listFields } from "../../base/schema/schema.ts";
import type { NativeTool } from "../../tools/native-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";

/**
 * Explains why a native tool's params do not match its kind's calls; `null` if they do. Params that
 * the calls do not have must be optional.
 */
export function findNativeParamsProblem(tool: NativeTool, codec: HostedToolCodec): string | null {
  if (codec.params === undefined) return null;
  const available = new Map<string, string>(Object.entries(codec.params));
  const fields = listFields(tool.paramsSchema);
  const required = readRequired(tool.paramsSchema);
  for (const name of new Set([...fields.keys(), ...required])) {
    const types = readTypes(fields.get(name) ?? {});
    const type = available.get(name);
    const isMissing = type === undefined && required.includes(name);
    const isOther =
      type !== undefined && types.length > 0 && !types.some((one) => isCompatibleType(one, type));
    if (!isMissing && !isOther) continue;
    const declared = `declares the param "${name}" ${types.length > 0 ? `as ${types.join(" or ")}` : "as required"}`;
    const remedy = isMissing ? "Remove it, or make it optional." : `Declare it as ${type}.`;
    return `NativeTool "${tool.name}" ${declared}, but "${codec.kind}" calls have ${formatParams(available)}. ${remedy}`;
  }
  return null;
}

function readRequired({ required }: JsonSchema & { readonly required?: unknown }): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Returns the schema's types; none if it allows any type. */
function readTypes({ type }: JsonSchema & { readonly type?: unknown }): readonly string[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((one) => typeof one === "string");
}

function isCompatibleType(declared: string, available: string): boolean {
  return declared === available || (isNumeric(declared) && isNumeric(available));
}

function isNumeric(type: string): boolean {
  return type === "integer" || type === "number";
}

function formatParams(params: ReadonlyMap<string, string>): string {
  return [...params].map(([name, type]) => `"${name}" (${type})`).join(", ") || "no params";
}
