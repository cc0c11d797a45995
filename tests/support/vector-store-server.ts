import OpenAI from "openai";
import { expect, onTestFinished } from "vitest";
import { createApi } from "../../src/local/http/create-api.ts";
import { listen } from "../../src/local/http/listen.ts";
import { randomIds } from "../../src/local/ids.ts";
import { vectorStoreRoutes } from "../../src/local/routes/vector-stores.ts";
import { findResponseProblems } from "./openapi.ts";
import { openStores } from "./vector-stores.ts";

/** Serves the routes on a real socket, with the official client. Validates every response against OpenAI's specification. */
export async function serveStores() {
  const opened = openStores();
  const { clock, stores, faults } = opened;
  const api = createApi({
    clock,
    ids: randomIds(),
    apiKey: null,
    log: null,
    onFault: (it) => void faults.push(it),
  });
  vectorStoreRoutes(api.routes, stores);
  const listening = await listen(api.fetch, {});
  const { url: baseURL } = listening;
  onTestFinished(async () => {
    await listening.close();
    await opened[Symbol.asyncDispose]();
    expect(faults).toEqual([]);
  });
  const send = async (route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${baseURL}${path}`, {
      method,
      headers: { connection: "close" },
      ...init,
    });
    const answer = await response.json();
    if (response.ok)
      expect(findResponseProblems(route.split("?")[0] ?? "", answer) ?? []).toEqual([]);
    return { status: response.status, answer };
  };
  const fetchChecked: typeof fetch = async (input, init) => {
    const response = await fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), connection: "close" },
    });
    const { pathname } = new URL(response.url);
    const route = `${init?.method?.toUpperCase()} ${pathname.replace("/v1", "")}`;
    if (response.ok)
      expect(findResponseProblems(route, await response.clone().json()) ?? []).toEqual([]);
    return response;
  };
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, fetch: fetchChecked });
  return { ...opened, client, send };
}
