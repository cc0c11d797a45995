import type { WireItem } from "../../../openai/wire.ts";
import type { Block } from "../check/content.ts";
import type { MessageState } from "../message-state.ts";
import type { SdkToolAction } from "../sdk-tool-uses.ts";
import { runCodeExecution } from "./code-execution.ts";
import { runWebFetch } from "./web-fetch.ts";
import { runWebSearch, toWebQuery } from "./web-search.ts";

/** Performs an action with one of the tools that the API runs itself. */
export async function runServerTool(
  action: SdkToolAction,
  tool: WireItem,
  state: MessageState,
): Promise<readonly Block[]> {
  if (!("search" in action)) return await runCodeExecution(action, tool, state);
  const { search } = action;
  const query = toWebQuery(search);
  if (query !== null) return searchWeb(query, tool, state);
  const { open, in: page }: WireItem = { ...Object(search) };
  return runWebFetch(String(open ?? page), tool, state);
}

/** Searches the server's pages, and stores them for the citations of the answer. */
export function searchWeb(query: string, tool: WireItem, state: MessageState): readonly Block[] {
  const { tools, ids, sealer } = state.services;
  const { searches } = state;
  const { pages, blocks } = runWebSearch(query, tool, { web: tools.web, ids, sealer, searches });
  state.pages = pages;
  state.searches += 1;
  return blocks;
}
