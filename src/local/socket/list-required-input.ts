import { readRecords } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";

/** Returns a stub of each answer that the client must send before it can continue a response. */
export function listRequiredInput(response: WireItem, catalog: ToolCatalog): readonly WireItem[] {
  const output = readRecords(response, "output");
  const answered = new Set(
    output.filter(({ type }) => catalog.calls.has(String(type))).map((item) => item["call_id"]),
  );
  return output
    .filter((item) => catalog.needsAnswer(item) && !answered.has(item["call_id"]))
    .map((item) => createStub(item, catalog));
}

function createStub({ type, call_id, name }: WireItem, { calls }: ToolCatalog): WireItem {
  const [answer] = [...calls].filter(([, call]) => call === type).map(([name]) => name);
  const stub = { type: answer, call_id };
  if (type === "function_call") return { ...stub, name };
  return type === "tool_search_call" ? { ...stub, execution: "client" } : stub;
}
