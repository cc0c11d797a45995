import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecord, readRecords, readString, readStrings } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import {
  anyObject,
  array,
  either,
  integer,
  joinPath,
  nullable,
  number,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../validators/validator.ts";
import { createStages, toInProgress } from "./item-events.ts";
import { created_by, type } from "./item-fields.ts";
import type { LocalToolPastCall } from "./local-tool.ts";
import { createStringsSchema, isString, joinParagraphs } from "./object-schema.ts";
import type { ToolRecord } from "./tool-record.ts";

const textOrList = either({
  string: string(),
  array: array((value, path) => (typeof value === "number" ? null : string()(value, path))),
});

const comparison = object({
  type,
  key: string({ min: 1 }),
  value: (value, path) => {
    if (typeof value === "number" || typeof value === "boolean") return null;
    return textOrList(value, path);
  },
});

/** Creates a validator of filters, nested at most `depth` levels deep. */
function createFilter(depth: number): Validator {
  const names = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"];
  const shapes = Object.fromEntries(names.map((name) => [name, comparison]));
  if (depth === 0) return unionByTag(shapes);
  const compound = object({ type, filters: array(createFilter(depth - 1), { min: 1 }) });
  return unionByTag({ ...shapes, and: compound, or: compound });
}

const attribute: Validator = (value, path) =>
  typeof value === "number" || typeof value === "boolean" ? null : string()(value, path);

const attributes: Validator = (value, path) => {
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
    file_id: string(),
    text: string(),
    filename: string(),
    score: number(),
    attributes: nullable(attributes),
    vector_store_id: string(),
  },
);

/** Searches vector stores. https://platform.openai.com/docs/guides/tools-file-search */
export const fileSearch: ToolRecord = {
  kind: "file_search",
  check: object(
    { type, vector_store_ids: array(string({ min: 1 }), { min: 1 }) },
    {
      max_num_results: integer({ min: 1, max: 50 }),
      filters: nullable(createFilter(16)),
      ranking_options: nullable(
        object(
          {},
          {
            ranker: oneOf("auto", "default-2024-11-15"),
            score_threshold: number({ min: 0, max: 1 }),
            hybrid_search: nullable(object({ embedding_weight: number(), text_weight: number() })),
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
      ...readRecord(entry, "ranking_options"),
    },
  }),

  async run({ entry, args }, { newId, services, cite }) {
    const query = readString(args, "query");
    const hits = await services.vectorStores.search({
      vectorStoreIds: readStrings(entry, "vector_store_ids"),
      query,
      maxResults: readNumber(entry, "max_num_results") ?? 20,
      filters: entry["filters"] ?? null,
      scoreThreshold: readNumber(readRecord(entry, "ranking_options"), "score_threshold") ?? 0,
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
    toAction: (args) => ({ search: { file: readString(args, "query") } }),
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
          id: string({ min: 1 }),
          status: oneOf("in_progress", "searching", "completed", "incomplete", "failed"),
          queries: array(string()),
        },
        { results: nullable(array(result)), created_by },
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
  const found = readRecords(item, "results").map(
    ({ filename, file_id: id, text: passage }) => `[${filename ?? id}]\n${passage ?? ""}`,
  );
  return { args: { query }, result: joinParagraphs(found, "Nothing was found.") };
}
