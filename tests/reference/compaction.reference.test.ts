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
import { recordAt, recordsAt, textAt, textsAt } from "../../src/base/reading.ts";
import { testKey } from "../support/openai-clients.ts";
import { type WireServerOptions, wireServer } from "../support/wire-server.ts";

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

/** Nothing of ours would ask so; what they were answered is replayed all the same. */
function reasonToSkip({ method, request }: Exchange): string | null {
  if (method === "GET") return "a stored response is looked up, and we store none";
  if (request && "previous_response_id" in request) return "it names a stored response";
  return null;
}

const isCompaction = ({ url }: Exchange) => url.endsWith("/compact");
const asked = exchanges.filter((one) => reasonToSkip(one) === null);
const turns = asked.filter((one) => !isCompaction(one));
const skipped = exchanges.filter((one) => reasonToSkip(one) !== null);

test("what is left out names something that the provider has stored", () => {
  expect(exchanges.length).toBeGreaterThan(50);
  expect(skipped.map(({ id }) => id)).toEqual(
    exchanges
      .filter(({ method, request }) => method === "GET" || request?.["previous_response_id"])
      .map(({ id }) => id),
  );
  expect(turns.length + asked.filter(isCompaction).length + skipped.length).toBe(exchanges.length);
});

function answerIn({ response, events }: Exchange): Json {
  const all = (events ?? []).map((event) => (isPlainObject(event["data"]) ? event["data"] : event));
  const last = all.findLast((event) => isPlainObject(event["response"]));
  const answer = last ? last["response"] : response;
  return isPlainObject(answer) ? answer : {};
}

function inputOf(request: Json | null): readonly Json[] {
  const input = request?.["input"];
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input.filter(isPlainObject) : [];
}

/** The server's answers come as they were recorded; then it has no more. */
async function serverOf(answer: Exchange, routes: WireServerOptions["routes"] = {}) {
  const ended = { status: 400, error: { message: "The recording has ended." } };
  const { status } = answer;
  let played = 0;
  const server = await wireServer(
    () => (played++ === 0 ? { json: answerIn(answer), status } : ended),
    { routes, invalid: "allowed", leftOver: "allowed" },
  );
  onTestFinished(() => server.close());
  return server;
}

/** A session whose conversation is what they sent. */
function sessionOf(items: readonly Json[]): Session {
  const slices = { [historySlice.id]: items };
  const head = { version: 1, id: "recorded", createdAt: "2026-01-01T00:00:00.000Z", tags: {} };
  return Session.parse(JSON.stringify({ ...head, slices }), [historySlice]);
}

function promptFor(request: Json): Prompt<unknown> {
  const tools = recordsAt(request, "tools");
  const functions = tools
    .filter(({ type }) => type === "function")
    .map((tool) => functionTool(tool));
  const task = { key: "task", title: "Task", template: "Go." };
  const section = new MarkdownSection({ ...task, tools: functions, hostedTools: hosted(tools) });
  const about = { ns: "t", key: "run", sections: [section] };
  return "format" in recordAt(request, "text")
    ? new Prompt(new PromptTemplate({ ...about, output: z.object({}) }))
    : new Prompt(new PromptTemplate(about));
}

function functionTool(tool: Json): Tool {
  return new Tool({
    name: textAt(tool, "name"),
    description: "Recorded.",
    params: z.looseObject({}),
    handler: async () => ToolResult.ok(null, "Played."),
  });
}

function hosted(tools: readonly Json[]): readonly HostedTool[] {
  return tools.flatMap((tool): readonly HostedTool[] => {
    if (tool["type"] === "web_search") return [webSearchTool()];
    if (tool["type"] !== "mcp") return [];
    const serverLabel = textAt(tool, "server_label");
    return [mcpTool({ serverLabel, serverUrl: textAt(tool, "server_url") })];
  });
}

/** An adapter in the situation that they were in. */
function adapterFor(request: Json, baseURL: string): OpenAIAdapter {
  const [management] = recordsAt(request, "context_management");
  const effort = recordAt(request, "reasoning")["effort"];
  const compaction: OpenAIAdapterOptions["compaction"] = {
    enabled: management !== undefined,
    strategy: "server",
    thresholdTokens: Number(management?.["compact_threshold"] ?? 1_000),
    zdrMode: request["store"] === false,
  };
  return new OpenAIAdapter({
    model: textAt(request, "model"),
    clientConfig: { apiKey: testKey, baseURL },
    modelConfig: typeof effort === "string" ? { reasoning: { effort } } : {},
    toolChoice: request["tool_choice"] === "none" ? "none" : "auto",
    throttle: { maxAttempts: 1 },
    compaction,
  });
}

/** Plays the one exchange through us: what we sent for it, and what the session then has. */
async function played(exchange: Exchange) {
  const request = exchange.request ?? {};
  const server = await serverOf(exchange);
  const session = sessionOf(inputOf(request));
  const adapter = adapterFor(request, server.url);
  const options = { session, continue: true };
  const [done] = await Promise.allSettled([adapter.evaluate(promptFor(request), options)]);
  const history = (session.get(historySlice) as readonly Json[]).filter((item) => !isPrompt(item));
  const error = done.status === "rejected" ? done.reason : null;
  return { sent: server.requests[0]?.body ?? {}, history, error };
}

/** What an item says, however it is written. */
function said(item: Json): string {
  const { type = "message", role, content } = item;
  const parts = typeof content === "string" ? [content] : recordsAt(item, "content");
  const texts = parts.map((part) => plain(typeof part === "string" ? part : part["text"]));
  const calls = [item["call_id"], item["approval_request_id"], item["arguments"], item["name"]];
  // In a stream the sealed content of the event and that of the whole are two seals of the same.
  const id = type === "message" || type === "reasoning" ? null : (item["id"] ?? null);
  const named = type === "function_call" || type === "compaction" ? null : id;
  return JSON.stringify([type, role ?? null, texts, calls, named]);
}

/** Some recorders wrote requests down in ASCII. */
function plain(text: unknown): string {
  return String(text)
    .replace(/[\u2018\u2019]/g, "'")
    .replaceAll("\u2014", "--");
}

function isPrompt({ role, content }: Json): boolean {
  return role === "system" && String(content).includes("Go.");
}

describe("our request in the same situation has the same shape:", () => {
  test.each(turns.map((one) => [one.id, one] as const))("%s", async (_id, exchange) => {
    const theirs = exchange.request ?? {};
    const { sent } = await played(exchange);
    // Answers are read whole, and the prompt is a message of the input.
    const keys = Object.keys(theirs).filter((key) => !["stream", "instructions"].includes(key));
    const more = Object.keys(sent).filter((key) => !keys.includes(key));
    expect(Object.keys(sent)).toEqual(expect.arrayContaining(keys));
    expect(["include", "tool_choice"]).toEqual(expect.arrayContaining(more));
    for (const key of ["model", "store", "context_management", "reasoning"]) {
      expect(sent[key]).toEqual(theirs[key]);
    }
    expect(textsAt(sent, "include")).toEqual(
      expect.arrayContaining([...textsAt(theirs, "include")]),
    );
    const types = (request: Json) => recordsAt(request, "tools").map(({ type }) => type);
    expect(types(sent)).toEqual(types(theirs));
    const input = recordsAt(sent, "input").filter((item) => !isPrompt(item));
    expect(input.map(said)).toEqual(inputOf(theirs).map(said));
  });
});

const followed = turns.flatMap((one) => {
  const next = exchanges.find((other) => other.file === one.file && isNext(one, other));
  return next && one.status === 200 ? [[one.id, one, next] as const] : [];
});

/** Whether `other` goes on from all that `one` was asked, and more. */
function isNext(one: Exchange, other: Exchange): boolean {
  const before = inputOf(one.request).map(said);
  const after = inputOf(other.request).map(said);
  const goesOn = before.every((item, place) => item === after[place]);
  return other.exchange === one.exchange + 1 && goesOn && after.length > before.length;
}

describe("what they were answered becomes the history that they sent next:", () => {
  test("there are such", () => expect(followed.length).toBeGreaterThan(10));

  test.each(followed)("%s", async (_id, exchange, next) => {
    const { history } = await played(exchange);
    const theirs = inputOf(next.request).map(said);
    const ours = history.map(said);
    const first = Math.max(0, theirs.indexOf(ours[0] ?? ""));
    // They send what came before a compaction too, which need not be sent.
    if (first > 0) expect(history[0]?.["type"]).toBe("compaction");
    expect(ours.length).toBeGreaterThan(0);
    expect(theirs.slice(first, first + ours.length)).toEqual(ours);
    const sealed = (items: readonly Json[]) =>
      items.flatMap((item) => item["encrypted_content"] ?? []);
    const sent = inputOf(next.request).slice(first, first + ours.length);
    if (!exchange.events?.length) expect(sealed(history)).toEqual(sealed(sent));
    const rest = inputOf(next.request).slice(first + ours.length);
    const isTold = ({ type, role }: Json) =>
      role === "user" || /_output$|_response$/.test(String(type));
    expect(rest.filter((item) => !isTold(item))).toEqual([]);
  });
});

/** The one after it, which goes on from what was compacted. */
function after({ file, exchange }: Exchange): Exchange | undefined {
  return exchanges.find((other) => other.file === file && other.exchange === exchange + 1);
}

describe("a recorded compaction", () => {
  test.each(exchanges.filter(isCompaction).map((one) => [one.id, one] as const))(
    "is asked for in the same words, and its output is what is sent next: %s",
    async (_id, exchange) => {
      const request = exchange.request ?? {};
      const json = answerIn(exchange);
      const server = await serverOf(exchange, { "POST /responses/compact": { json } });
      const client = openAIClient({ apiKey: testKey, baseURL: server.url });
      const instructions = request["instructions"];
      const options = {
        model: textAt(request, "model"),
        ...(typeof instructions === "string" && { instructions }),
      };
      const manager = new CompactionManager(client, {}, new Session(), options);
      const window = await manager.compact(inputOf(request), 1);
      if (reasonToSkip(exchange) === null) expect(server.requests[0]?.body).toEqual(request);
      expect(window).toEqual(json["output"]);
      expect(manager.state.encryptedItems).toEqual(recordsAt(json, "output").slice(-1));
      const next = after(exchange);
      const theirs = inputOf(next?.request ?? null).filter(({ type }) => type === "compaction");
      const sealed = manager.state.encryptedItems.map((item) =>
        textAt({ ...item }, "encrypted_content"),
      );
      for (const item of theirs) expect(sealed).toContain(item["encrypted_content"]);
    },
  );
});
