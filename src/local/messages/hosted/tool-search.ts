import { readRecords } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { type Block, readResultParts } from "../check/content.ts";
import { isToolSearch } from "../check/tools.ts";
import type { MessageState } from "../message-state.ts";

/**
 * Returns the search with which Anthropic's API finds a deferred tool before the model calls it, or nothing: if
 * the tool is not deferred, was found before, or the request offers no search.
 */
export function searchForTool(name: string, state: MessageState): readonly Block[] {
  const { tools, services, request, blocks } = state;
  const search = tools.find(isToolSearch);
  const isDeferred = tools.some((tool) => tool["name"] === name && tool["defer_loading"] === true);
  if (!search || !isDeferred) return [];
  const known = [...request.messages.flatMap(({ content }) => content), ...blocks.map(readBlock)];
  if (known.flatMap(listReferences).includes(name)) return [];
  const id = services.ids.next("srvtoolu_");
  const isRegex = String(search["type"]).startsWith("tool_search_tool_regex");
  const kind = isRegex ? "tool_search_tool_regex" : "tool_search_tool_bm25";
  const input = isRegex ? { pattern: name } : { query: name };
  const content = {
    type: "tool_search_tool_search_result",
    tool_references: [{ type: "tool_reference", tool_name: name }],
  };
  return [
    { type: "server_tool_use", id, name: kind, input },
    { type: "tool_search_tool_result", tool_use_id: id, content },
  ];
}

function readBlock({ block }: { readonly block: Block }): Block {
  return block;
}

/** Lists the tools that a block refers to: the result of a search at the API or at the client. */
function listReferences(block: WireItem): readonly unknown[] {
  const { content } = block;
  const found = readRecords({ ...Object(content) }, "tool_references");
  return [...found, ...readResultParts(block)].map((part) => part["tool_name"]);
}
