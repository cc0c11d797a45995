import { numberAt, recordAt } from "../../base/reading.ts";
import type { TurnState } from "../turn/turn.ts";
import { toolOf } from "./tool-of.ts";

/** Searches the vector stores of the request's tool. */
export async function searchFiles(query: string, state: TurnState): Promise<void> {
  const { services, input, output } = state;
  const tool = toolOf(input.tools, ["file_search"], "searched files");
  const { vector_store_ids: ids } = tool;
  const hits = await services.tools.fileSearch.search({
    vectorStoreIds: Array.isArray(ids) ? ids.map(String) : [],
    query,
    maxResults: numberAt(tool, "max_num_results") ?? 20,
    filters: tool["filters"] ?? null,
    scoreThreshold: numberAt(recordAt(tool, "ranking_options"), "score_threshold") ?? 0,
  });
  state.hits = hits.map(({ fileId, filename }) => ({ type: "file", fileId, filename }));
  output.push({
    id: services.ids.next("fs_"),
    type: "file_search_call",
    status: "completed",
    queries: [query],
    results: hits.map(({ fileId, filename, score, text, attributes }) => ({
      file_id: fileId,
      filename,
      score,
      text,
      attributes,
    })),
  });
}
