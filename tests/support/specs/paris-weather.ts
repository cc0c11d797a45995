import type { ModelScript } from "weakincentives/local";
import { createFolder } from "../local/provider-fixture.ts";

/** Returns a web of one page, and a model that searches it. */
export function createSearch(script: ModelScript) {
  const web = createFolder({
    "pages.json": JSON.stringify({ "paris.html": weather }),
    "paris.html": "<title>Weather</title><p>The current weather in Paris: rain.</p>",
  });
  return { script, provider: { web } };
}

export const weather = "https://weather.example/";

/** The result of a search of that web, without its id. */
export const searched = {
  type: "web_search_call",
  status: "completed",
  action: {
    type: "search",
    query: "current weather in Paris",
    queries: ["current weather in Paris"],
    sources: [{ type: "url", url: weather }],
  },
};
