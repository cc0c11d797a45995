import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";

/** An item as a response shows it: what is large or private only if `include` asks for it. */
export function withIncludes(item: WireItem, include: ReadonlySet<string>): WireItem {
  switch (item["type"]) {
    case "code_interpreter_call":
      return include.has("code_interpreter_call.outputs") ? item : { ...item, outputs: null };
    case "file_search_call":
      return include.has("file_search_call.results") ? item : { ...item, results: null };
    case "web_search_call":
      return webSearchCall(item, include);
    case "reasoning":
      return include.has("reasoning.encrypted_content") ? item : without(item, "encrypted_content");
    default:
      return item;
  }
}

function webSearchCall(item: WireItem, include: ReadonlySet<string>): WireItem {
  const call = include.has("web_search_call.results") ? item : without(item, "results");
  const { action } = call;
  if (!isPlainObject(action) || include.has("web_search_call.action.sources")) return call;
  return { ...call, action: without(action, "sources") };
}

function without(record: WireItem, key: string): WireItem {
  if (!(key in record)) return record;
  const { [key]: _left, ...rest } = record;
  return rest;
}
