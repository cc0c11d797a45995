import { createAdaptorServer } from "@hono/node-server";
import OpenAI from "openai";
import { expect, onTestFinished } from "vitest";
import { createApi } from "../../src/local/http/create-api.ts";
import { randomIds } from "../../src/local/ids.ts";
import { vectorStoreRoutes } from "../../src/local/routes/vector-stores.ts";
import { findResponseProblems } from "./openapi.ts";
import { openStores } from "./vector-stores.ts";

/** Serves the routes on a real socket, with the official client. Validates every response against OpenAI's specification. */
export async function serveStores() {
  const opened = openStores();
  const { clock, stores, faults } = opened;
  const app = createApi({
    clock,
    ids: randomIds(),
    apiKey: null,
    log: null,
    onFault: (it) => void faults.push(it),
  });
  app.route("/v1", vectorStoreRoutes(stores));
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve));
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
