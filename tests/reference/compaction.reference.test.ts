import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type HostedTool,
  MarkdownSection,
  mcpTool,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import {
  CompactionManager,
  historySlice,
  OpenAIAdapter,
  type OpenAIAdapterOptions,
  openAIClient,
} from "weakincentives/openai";
import * as z from "zod";
import { isPlainObject } from "../../src/base/freeze.ts";
import { readRecord, readRecords, readString, readStrings } from "../../src/base/json.ts";
import { testKey } from "../support/openai-clients.ts";
import { startWireServer, type WireServerOptions } from "../support/wire-server.ts";

type Json = Readonly<Record<string, unknown>>;

interface Exchange {
  readonly id: string;
  readonly file: string;
  readonly exchange: number;
  readonly kinds: readonly string[];
  readonly method: string;
  readonly url: string;
  readonly request: Json | null;
  readonly status: number;
  readonly response: unknown;
  readonly events: readonly Json[] | null;
}

const kinds = ["compact_endpoint", "compaction_server", "store_false", "zdr_store_false_reasoning"];
const exchanges = readFileSync(join(process.env["WINK_SHARED"] ?? "", "recorded/dev.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Exchange => JSON.parse(line))
  .filter((one) => one.kinds.some((kind) => kinds.includes(kind)));

/** Explains why the adapter would never send a request; its response is still replayed. */
function findSkipReason({ method, request }: Exchange): string | null {
  if (method === "GET") return "it retrieves a stored response, and the adapter stores none";
  if (request && "previous_response_id" in request) return "it refers to a stored response";
  return null;
}

const isCompaction = ({ url }: Exchange) => url.endsWith("/compact");
const asked = exchanges.filter((one) => findSkipReason(one) === null);
const turns = asked.filter((one) => !isCompaction(one));
const skipped = exchanges.filter((one) => findSkipReason(one) !== null);

test("skipped exchanges refer to responses stored at the provider", () => {
  expect(exchanges.length).toBeGreaterThan(50);
  expect(skipped.map(({ id }) => id)).toEqual(
    exchanges
      .filter(({ method, request }) => method === "GET" || request?.["previous_response_id"])
      .map(({ id }) => id),
  );
  expect(turns.length + asked.filter(isCompaction).length + skipped.length).toBe(exchanges.length);
});

function getResponse({ response, events }: Exchange): Json {
  const all = (events ?? []).map((event) => (isPlainObject(event["data"]) ? event["data"] : event));
  const last = all.findLast((event) => isPlainObject(event["response"]));
  const answer = last ? last["response"] : response;
  return isPlainObject(answer) ? answer : {};
}

function getInput(request: Json | null): readonly Json[] {
  const input = request?.["input"];
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input.filter(isPlainObject) : [];
}

/** Starts a server with one recorded response; later requests fail. */
async function startServer(answer: Exchange, routes: WireServerOptions["routes"] = {}) {
  const ended = { status: 400, error: { message: "The recording has ended." } };
  const { status } = answer;
  let played = 0;
  const server = await startWireServer(
    () => (played++ === 0 ? { json: getResponse(answer), status } : ended),
    { routes, invalid: "allowed", leftOver: "allowed" },
  );
  onTestFinished(() => server.close());
  return server;
}

/** Creates a session whose history is the recorded input. */
function createSession(items: readonly Json[]): Session {
  const slices = { [historySlice.id]: items };
  const head = { version: 1, id: "recorded", createdAt: "2026-01-01T00:00:00.000Z", tags: {} };
  return Session.parse(JSON.stringify({ ...head, slices }), [historySlice]);
}

function createPrompt(request: Json): Prompt<unknown> {
  const tools = readRecords(request, "tools");
  const functions = tools
    .filter(({ type }) => type === "function")
    .map((tool) => createFunctionTool(tool));
  const task = { key: "task", title: "Task", template: "Go." };
  const section = new MarkdownSection({
    ...task,
    tools: functions,
    hostedTools: createHostedTools(tools),
  });
  const about = { ns: "t", key: "run", sections: [section] };
  return "format" in readRecord(request, "text")
    ? new Prompt(new PromptTemplate({ ...about, output: z.object({}) }))
    : new Prompt(new PromptTemplate(about));
}

function createFunctionTool(tool: Json): Tool {
  return new Tool({
    name: readString(tool, "name"),
    description: "Recorded.",
    params: z.looseObject({}),
    handler: async () => ToolResult.ok(null, "Played."),
  });
}

function createHostedTools(tools: readonly Json[]): readonly HostedTool[] {
  return tools.flatMap((tool): readonly HostedTool[] => {
    if (tool["type"] === "web_search") return [webSearchTool()];
    if (tool["type"] !== "mcp") return [];
    const serverLabel = readString(tool, "server_label");
    return [mcpTool({ serverLabel, serverUrl: readString(tool, "server_url") })];
  });
}

/** Creates an adapter with the recorded request's settings. */
function createAdapter(request: Json, baseURL: string): OpenAIAdapter {
  const [management] = readRecords(request, "context_management");
  const effort = readRecord(request, "reasoning")["effort"];
  const compaction: OpenAIAdapterOptions["compaction"] = {
    enabled: management !== undefined,
    strategy: "server",
    thresholdTokens: Number(management?.["compact_threshold"] ?? 1_000),
    zdrMode: request["store"] === false,
  };
  return new OpenAIAdapter({
    model: readString(request, "model"),
    clientConfig: { apiKey: testKey, baseURL },
    modelConfig: typeof effort === "string" ? { reasoning: { effort } } : {},
    toolChoice: request["tool_choice"] === "none" ? "none" : "auto",
    throttle: { maxAttempts: 1 },
    compaction,
    delivery: "buffered", // the fields of streams are not part of the comparison
  });
}

/** Replays an exchange; returns the adapter's request and the resulting history. */
async function replay(exchange: Exchange) {
  const request = exchange.request ?? {};
  const server = await startServer(exchange);
  const session = createSession(getInput(request));
  const adapter = createAdapter(request, server.url);
  const options = { session, continue: true };
  const [done] = await Promise.allSettled([adapter.evaluate(createPrompt(request), options)]);
  const history = (session.get(historySlice) as readonly Json[]).filter((item) => !isPrompt(item));
  const error = done.status === "rejected" ? done.reason : null;
  return { sent: server.requests[0]?.body ?? {}, history, error };
}

/** Normalizes an item's content for comparison. */
function normalizeItem(item: Json): string {
  const { type = "message", role, content } = item;
  const parts = typeof content === "string" ? [content] : readRecords(item, "content");
  const texts = parts.map((part) => toAscii(typeof part === "string" ? part : part["text"]));
  const calls = [item["call_id"], item["approval_request_id"], item["arguments"], item["name"]];
  // In a stream, encrypted content differs between the event and the whole response.
  const id = type === "message" || type === "reasoning" ? null : (item["id"] ?? null);
  const named = type === "function_call" || type === "compaction" ? null : id;
  return JSON.stringify([type, role ?? null, texts, calls, named]);
}

/** Replaces typographic characters: some recordings contain only ASCII. */
function toAscii(text: unknown): string {
  return String(text)
    .replace(/[\u2018\u2019]/g, "'")
    .replaceAll("\u2014", "--");
}

function isPrompt({ role, content }: Json): boolean {
  return role === "system" && String(content).includes("Go.");
}

describe("the adapter sends a request of the recorded shape:", () => {
  test.each(turns.map((one) => [one.id, one] as const))("%s", async (_id, exchange) => {
    const theirs = exchange.request ?? {};
    const { sent } = await replay(exchange);
    // The adapter is buffered here, and sends the prompt as a message of the input.
    const keys = Object.keys(theirs).filter((key) => !["stream", "instructions"].includes(key));
    const more = Object.keys(sent).filter((key) => !keys.includes(key));
    expect(Object.keys(sent)).toEqual(expect.arrayContaining(keys));
    expect(["include", "tool_choice"]).toEqual(expect.arrayContaining(more));
    for (const key of ["model", "store", "context_management", "reasoning"]) {
      expect(sent[key]).toEqual(theirs[key]);
    }
    expect(readStrings(sent, "include")).toEqual(
      expect.arrayContaining([...readStrings(theirs, "include")]),
    );
    const listTypes = (request: Json) => readRecords(request, "tools").map(({ type }) => type);
    expect(listTypes(sent)).toEqual(listTypes(theirs));
    const input = readRecords(sent, "input").filter((item) => !isPrompt(item));
    expect(input.map(normalizeItem)).toEqual(getInput(theirs).map(normalizeItem));
  });
});

const followed = turns.flatMap((one) => {
  const next = exchanges.find((other) => other.file === one.file && isNext(one, other));
  return next && one.status === 200 ? [[one.id, one, next] as const] : [];
});

/** Whether `other` continues the conversation of `one`. */
function isNext(one: Exchange, other: Exchange): boolean {
  const before = getInput(one.request).map(normalizeItem);
  const after = getInput(other.request).map(normalizeItem);
  const goesOn = before.every((item, place) => item === after[place]);
  return other.exchange === one.exchange + 1 && goesOn && after.length > before.length;
}

describe("a recorded response becomes the recorded next history:", () => {
  test("there are enough recorded pairs", () => expect(followed.length).toBeGreaterThan(10));

  test.each(followed)("%s", async (_id, exchange, next) => {
    const { history } = await replay(exchange);
    const theirs = getInput(next.request).map(normalizeItem);
    const ours = history.map(normalizeItem);
    const first = Math.max(0, theirs.indexOf(ours[0] ?? ""));
    // The recordings also send items before a compaction, which is not necessary.
    if (first > 0) expect(history[0]?.["type"]).toBe("compaction");
    expect(ours.length).toBeGreaterThan(0);
    expect(theirs.slice(first, first + ours.length)).toEqual(ours);
    const listEncrypted = (items: readonly Json[]) =>
      items.flatMap((item) => item["encrypted_content"] ?? []);
    const sent = getInput(next.request).slice(first, first + ours.length);
    if (!exchange.events?.length) expect(listEncrypted(history)).toEqual(listEncrypted(sent));
    const rest = getInput(next.request).slice(first + ours.length);
    const isTold = ({ type, role }: Json) =>
      role === "user" || /_output$|_response$/.test(String(type));
    expect(rest.filter((item) => !isTold(item))).toEqual([]);
  });
});

/** Finds the next exchange, which continues the compacted conversation. */
function findNext({ file, exchange }: Exchange): Exchange | undefined {
  return exchanges.find((other) => other.file === file && other.exchange === exchange + 1);
}

describe("a recorded compaction", () => {
  test.each(exchanges.filter(isCompaction).map((one) => [one.id, one] as const))(
    "is requested with the same body, and its output is sent next: %s",
    async (_id, exchange) => {
      const request = exchange.request ?? {};
      const json = getResponse(exchange);
      const server = await startServer(exchange, { "POST /responses/compact": { json } });
      const client = openAIClient({ apiKey: testKey, baseURL: server.url });
      const instructions = request["instructions"];
      const options = {
        model: readString(request, "model"),
        ...(typeof instructions === "string" && { instructions }),
      };
      const manager = new CompactionManager(client, {}, new Session(), options);
      const window = await manager.compact(getInput(request), 1);
      if (findSkipReason(exchange) === null) expect(server.requests[0]?.body).toEqual(request);
      expect(window).toEqual(json["output"]);
      expect(manager.state.encryptedItems).toEqual(readRecords(json, "output").slice(-1));
      const next = findNext(exchange);
      const theirs = getInput(next?.request ?? null).filter(({ type }) => type === "compaction");
      const sealed = manager.state.encryptedItems.map((item) =>
        readString({ ...item }, "encrypted_content"),
      );
      for (const item of theirs) expect(sealed).toContain(item["encrypted_content"]);
    },
  );
});
