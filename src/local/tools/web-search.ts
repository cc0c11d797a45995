import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readRecords, readString, readStrings } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import {
  anyObject,
  anyValue,
  array,
  boolean,
  idWithPrefix,
  integer,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
} from "../validators/validator.ts";
import { createStages, toInProgress } from "./item-events.ts";
import { created_by, type } from "./item-fields.ts";
import type { LocalToolPastCall } from "./local-tool.ts";
import { createStringsSchema, isString, joinParagraphs } from "./object-schema.ts";
import type { ShorthandCall, ToolContext, ToolRecord } from "./tool-record.ts";
import type { WebService } from "./tool-services.ts";

const search_context_size = nullable(oneOf("low", "medium", "high"));
const search_content_types = array(oneOf("text", "image"));
const domains = nullable(array(string({ min: 1 }), { max: 100 }));

const user_location = nullable(
  object(
    {},
    {
      type: oneOf("approximate"),
      country: nullable(string()),
      region: nullable(string()),
      city: nullable(string()),
      timezone: nullable(string()),
    },
  ),
);

const current = object(
  { type },
  {
    external_web_access: nullable(boolean),
    filters: nullable(object({}, { allowed_domains: domains, blocked_domains: domains })),
    search_context_size,
    user_location,
    return_token_budget: oneOf("default", "unlimited"),
    search_content_types,
    image_settings: object({}, { max_results: integer({ min: 1 }), caption: anyValue }),
  },
);

const preview = object({ type }, { search_context_size, search_content_types, user_location });

const sources = nullable(
  array(
    unionByTag({ url: object({ type, url: string() }), api: object({ type, name: string() }) }),
  ),
);

/** Searches the provider's pages, opens one, or finds text in one. https://platform.openai.com/docs/guides/tools-web-search */
export const webSearch: ToolRecord = {
  kind: "web_search",
  aliases: ["web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"],
  check: unionByTag({
    web_search: current,
    web_search_2025_08_26: current,
    web_search_preview: preview,
    web_search_preview_2025_03_11: preview,
  }),
  /** Like OpenAI, reports the United States as the default location. */
  echo(entry) {
    const { user_location: location } = entry;
    const empty = { type: "approximate", city: null, country: null, region: null, timezone: null };
    return {
      ...entry,
      search_context_size: entry["search_context_size"] ?? "medium",
      user_location: isPlainObject(location)
        ? { ...empty, ...location }
        : { ...empty, country: "US" },
    };
  },

  checkServices: (services) => void requireWeb({ services }),

  run({ entry, args }, context) {
    const call = { id: context.newId("ws_"), type: "web_search_call" };
    const { query, url, pattern } = args;
    if (isString(query)) return [{ ...call, ...searchPages(query, entry, context) }];
    const page = readString({ url }, "url");
    if (!isString(pattern)) return [{ ...call, ...openPage(page, context) }];
    const results = requireWeb(context)
      .find(page, pattern)
      .map((found) => ({ type: "text", url: page, text: found.text }));
    const action = { type: "find_in_page", url: page, pattern };
    return [{ ...call, status: "completed", action, results }];
  },

  shorthand: {
    key: "search",
    fromAction: (action) => ("search" in action ? toSearchCall(action.search) : null),
    toAction({ query, url, pattern }) {
      if (isString(query)) return { search: { web: query } };
      const page = String(url);
      return { search: isString(pattern) ? { find: pattern, in: page } : { open: page } };
    },
  },
  echoArgs: (said) => ({ query: said || "anything" }),
  functions: [
    {
      name: "web_search",
      description: "Searches the web and returns pages with their addresses.",
      parameters: createStringsSchema({ query: "The search query, in words." }),
      read: ({ query }) => (isString(query) ? { query } : null),
    },
    {
      name: "open_page",
      description: "Opens a page that a web search found and returns its text.",
      parameters: createStringsSchema({ url: "The page's address." }),
      read: ({ url }) => (isString(url) ? { url } : null),
    },
    {
      name: "find_in_page",
      description: "Returns the places in a page that contain some words.",
      parameters: createStringsSchema({
        url: "The page's address.",
        pattern: "The words to find.",
      }),
      read: ({ url, pattern }) => (isString(url) && isString(pattern) ? { url, pattern } : null),
    },
  ],

  items: {
    web_search_call: {
      check: object(
        {
          type,
          id: idWithPrefix("ws"),
          status: oneOf("in_progress", "searching", "completed", "failed", "incomplete"),
        },
        {
          action: unionByTag({
            search: object(
              { type },
              { query: nullable(string()), queries: nullable(array(string())), sources },
            ),
            open_page: object({ type }, { url: nullable(string()) }),
            find_in_page: object({ type, pattern: string() }, { url: nullable(string()) }),
          }),
          results: nullable(array(anyObject)),
          created_by,
        },
      ),
      events(item) {
        const { action: _action, results: _results, ...rest } = item;
        return {
          added: toInProgress(rest),
          running: createStages(item, "in_progress", "searching"),
          finished: createStages(item, "completed"),
        };
      },
      includes: {
        "web_search_call.results": (item) => omitKey(item, "results"),
        "web_search_call.action.sources": (item) => {
          const { action } = item;
          return isPlainObject(action) && "sources" in action
            ? { ...item, action: omitKey(action, "sources") }
            : item;
        },
      },
      toCall,
    },
  },
};

function searchPages(query: string, entry: WireItem, context: ToolContext): WireItem {
  const filters = readRecord(entry, "filters");
  const found = requireWeb(context).search(query, {
    allowedDomains: readStrings(filters, "allowed_domains"),
    blockedDomains: readStrings(filters, "blocked_domains"),
  });
  context.cite(found.map(({ url, title }) => ({ type: "url", url, title })));
  const pages = found.map(({ url }) => ({ type: "url", url }));
  const results = found.map(({ url, title, snippet }) => ({
    type: "text",
    url,
    title,
    text: snippet,
  }));
  const action = { type: "search", query, queries: [query], sources: pages };
  return { status: "completed", action, results };
}

/** Opens a page. A page that does not exist fails to open, as on the web. */
function openPage(url: string, context: ToolContext): WireItem {
  const page = requireWeb(context).open(url);
  if (page) context.cite([{ type: "url", url: page.url, title: page.title }]);
  const action = { type: "open_page", url };
  return page
    ? { status: "completed", action, results: [{ type: "text", ...page }] }
    : { status: "failed", action, results: [] };
}

function requireWeb({ services }: Pick<ToolContext, "services">): WebService {
  if (services.web) return services.web;
  const message =
    "There are no pages to search: start the server with a folder of pages (--web FOLDER, or the option web).";
  throw new StepFault(message, { code: "web_search_unavailable" });
}

function toSearchCall(
  search: Extract<ModelAction, { search: unknown }>["search"],
): ShorthandCall | null {
  if (typeof search === "string") return { args: { query: search }, did: "searched the web" };
  if ("web" in search) return { args: { query: search.web }, did: "searched the web" };
  if ("open" in search) return { args: { url: search.open }, did: "opened a page" };
  if (!("find" in search)) return null;
  return { args: { url: search.in, pattern: search.find }, did: "looked into a page" };
}

function omitKey(record: WireItem, key: string): WireItem {
  if (!(key in record)) return record;
  const { [key]: _omitted, ...rest } = record;
  return rest;
}

function toCall(item: WireItem): LocalToolPastCall {
  const action = readRecord(item, "action");
  const { type: did, url, pattern, query, queries } = action;
  const result = joinParagraphs(describePages(item, action), "Nothing was found.");
  if (did === "open_page") return { name: "open_page", args: { url }, result };
  if (did === "find_in_page") return { name: "find_in_page", args: { url, pattern }, result };
  const words = query ?? (Array.isArray(queries) ? queries.join("; ") : "");
  return { args: { query: words }, result };
}

/** Describes pages with their text if the item includes it, otherwise only by address. */
function describePages(item: WireItem, action: WireItem): readonly string[] {
  const found = readRecords(item, "results");
  const pages = found.length > 0 ? found : readRecords(action, "sources");
  return pages.map(({ title, url, text: words }) => {
    const parts = [title && url ? `${title} (${url})` : url, words];
    return parts.filter((part) => isString(part) && part !== "").join("\n");
  });
}
