import { isPlainObject } from "../../base/freeze.ts";
import { numberAt, recordAt, recordsAt, textAt, textsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import {
  anyObject,
  byType,
  decimal,
  either,
  integer,
  joinPath,
  list,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../validators/shapes.ts";
import { createStringsSchema, isString, joinParagraphs } from "./function-schema.ts";
import { createStages, toInProgress } from "./item-events.ts";
import { created_by, type } from "./item-fields.ts";
import type { LocalToolPastCall } from "./local-tool.ts";
import type { ToolRecord } from "./tool-record.ts";

const textOrList = either({
  string: text(),
  array: list((value, path) => (typeof value === "number" ? null : text()(value, path))),
});

const comparison = object({
  type,
  key: text({ min: 1 }),
  value: (value, path) => {
    if (typeof value === "number" || typeof value === "boolean") return null;
    return textOrList(value, path);
  },
});

/** Creates a validator of filters, nested at most `depth` levels deep. */
function createFilter(depth: number): Shape {
  const names = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"];
  const shapes = Object.fromEntries(names.map((name) => [name, comparison]));
  if (depth === 0) return byType(shapes);
  const compound = object({ type, filters: list(createFilter(depth - 1), { min: 1 }) });
  return byType({ ...shapes, and: compound, or: compound });
}

const attribute: Shape = (value, path) =>
  typeof value === "number" || typeof value === "boolean" ? null : text()(value, path);

const attributes: Shape = (value, path) => {
  if (!isPlainObject(value)) return anyObject(value, path);
  for (const [key, part] of Object.entries(value)) {
    const problem = attribute(part, joinPath(path, key));
    if (problem) return problem;
  }
  return null;
};

const result = object(
  {},
  {
    file_id: text(),
    text: text(),
    filename: text(),
    score: decimal(),
    attributes: maybe(attributes),
    vector_store_id: text(),
  },
);

/** Searches vector stores. https://platform.openai.com/docs/guides/tools-file-search */
export const fileSearch: ToolRecord = {
  kind: "file_search",
  check: object(
    { type, vector_store_ids: list(text({ min: 1 }), { min: 1 }) },
    {
      max_num_results: integer({ min: 1, max: 50 }),
      filters: maybe(createFilter(16)),
      ranking_options: maybe(
        object(
          {},
          {
            ranker: oneOf("auto", "default-2024-11-15"),
            score_threshold: decimal({ min: 0, max: 1 }),
            hybrid_search: maybe(object({ embedding_weight: decimal(), text_weight: decimal() })),
          },
        ),
      ),
    },
  ),
  echo: (entry) => ({
    filters: null,
    max_num_results: 20,
    ...entry,
    ranking_options: {
      ranker: "auto",
      score_threshold: 0,
      ...recordAt(entry, "ranking_options"),
    },
  }),

  async run({ entry, args }, { newId, services, cite }) {
    const query = textAt(args, "query");
    const hits = await services.vectorStores.search({
      vectorStoreIds: textsAt(entry, "vector_store_ids"),
      query,
      maxResults: numberAt(entry, "max_num_results") ?? 20,
      filters: entry["filters"] ?? null,
      scoreThreshold: numberAt(recordAt(entry, "ranking_options"), "score_threshold") ?? 0,
    });
    cite(hits.map(({ fileId, filename }) => ({ type: "file", fileId, filename })));
    const results = hits.map(({ fileId, ...hit }) => {
      const { filename, score, text: passage, attributes: its } = hit;
      return { file_id: fileId, filename, score, text: passage, attributes: its };
    });
    const id = newId("fs_");
    return [{ id, type: "file_search_call", status: "completed", queries: [query], results }];
  },

  shorthand: {
    key: "search",
    /** A plain string searches files if the request offers file search. */
    fromAction(action, isOffered) {
      if (!("search" in action)) return null;
      const { search } = action;
      if (typeof search === "string")
        return isOffered ? { args: { query: search }, did: "searched files" } : null;
      return "file" in search ? { args: { query: search.file }, did: "searched files" } : null;
    },
    toAction: (args) => ({ search: { file: textAt(args, "query") } }),
  },
  echoArgs: (said) => ({ query: said || "anything" }),
  functions: [
    {
      name: "file_search",
      description: "Searches the provided files and returns the best-matching passages.",
      parameters: createStringsSchema({ query: "The search query, in words." }),
      read: ({ query }) => (isString(query) ? { query } : null),
    },
  ],

  items: {
    file_search_call: {
      check: object(
        {
          type,
          id: text({ min: 1 }),
          status: oneOf("in_progress", "searching", "completed", "incomplete", "failed"),
          queries: list(text()),
        },
        { results: maybe(list(result)), created_by },
      ),
      events: (item) => ({
        added: { ...toInProgress(item), queries: [], results: null },
        running: createStages(item, "in_progress", "searching"),
        finished: createStages(item, "completed"),
      }),
      includes: { "file_search_call.results": (item) => ({ ...item, results: null }) },
      toCall,
    },
  },
};

function toCall(item: WireItem): LocalToolPastCall {
  const { queries } = item;
  const query = Array.isArray(queries) ? queries.join("; ") : "";
  const found = recordsAt(item, "results").map(
    ({ filename, file_id: id, text: passage }) => `[${filename ?? id}]\n${passage ?? ""}`,
  );
  return { args: { query }, result: joinParagraphs(found, "Nothing was found.") };
}
