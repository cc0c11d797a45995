import type { WireItem } from "../../../openai/wire.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";

/** Returns an item as a response shows it: large or private fields only if `include` requests them. */
export function applyIncludes(
  item: WireItem,
  include: ReadonlySet<string>,
  catalog: ToolCatalog,
): WireItem {
  if (item["type"] === "reasoning")
    return include.has("reasoning.encrypted_content") ? item : omitEncryptedContent(item);
  const includes = catalog.byItem.get(item["type"])?.includes;
  if (!includes) return item;
  let shown = item;
  for (const [value, without] of Object.entries(includes))
    if (!include.has(value)) shown = without(shown);
  return shown;
}

function omitEncryptedContent(item: WireItem): WireItem {
  if (!("encrypted_content" in item)) return item;
  const { encrypted_content: _sealed, ...rest } = item;
  return rest;
}
