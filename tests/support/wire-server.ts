import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { isPlainObject } from "../../src/base/freeze.ts";
import { readRecord, readString, readStringOrNull, readStrings } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  answeredCalls,
  findBodyRefusal,
  findHistoryRefusal,
  findRequestProblems,
} from "./openapi.ts";
import { formatEvents, toStreamEvents } from "./wire-stream.ts";

export {
  applyPatchCall,
  codeInterpreterCall,
  containerFileCitation,
  fileCitation,
  fileSearchCall,
  functionCall,
  imageGenerationCall,
  mcpApprovalRequest,
  mcpCall,
  mcpListTools,
  message,
  reasoning,
  refusal,
  shellCall,
  shellCallOutput,
  urlCitation,
  webSearchCall,
} from "./wire-items.ts";

/** A received request. */
export interface SeenRequest {
  readonly method: string;
  /** Relative to `/v1`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The JSON object or the form's fields; otherwise empty. */
  readonly body: WireItem;
  /** The body as text. */
  readonly text: string;
}

/** The model's answer: its items, a whole response, or any HTTP response. */
export type WireAnswer = readonly WireItem[] | ResponseAnswer | RouteAnswer;

/** A response with HTTP status 200, in the API's format. */
export interface ResponseAnswer {
  readonly output: readonly WireItem[];
  /** @default "incomplete" or "failed" if the details or error are set, otherwise "completed" */
  readonly status?: string;
  readonly incomplete_details?: { readonly reason: string };
  readonly error?: { readonly code: string; readonly message: string };
  /** @default 10 tokens in, 5 out */
  readonly usage?: WireItem | null;
  /** @default the request's model */
  readonly model?: string;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route's response: an OpenAI error, JSON, bytes, a stream, a custom handler, or none at all. */
export type RouteAnswer =
  | (WithHeaders & { readonly status: number; readonly error: WireItem })
  | (WithHeaders & { readonly json: unknown; readonly status?: number })
  | (WithHeaders & { readonly bytes: string | Uint8Array })
  | (WithHeaders & {
      /** A stream of events. Strings are sent unchanged. */
      readonly events: readonly (WireItem | string)[];
    })
  | { readonly raw: (request: IncomingMessage, response: ServerResponse) => void }
  | { readonly stall: true };

interface WithHeaders {
  readonly headers?: Readonly<Record<string, string>>;
}

type Answering<Answer> = Answer | ((request: SeenRequest) => Answer | Promise<Answer>);

/** One answer per `POST /responses`, or a function that creates them. */
export type WireScript =
  | readonly WireAnswer[]
  | ((request: SeenRequest) => WireAnswer | Promise<WireAnswer>);

/** Options of `wireServer`. */
export interface WireServerOptions {
  /** Other routes, by method and path such as `"GET /containers/cntr_1"`. */
  readonly routes?: Readonly<Record<string, Answering<RouteAnswer>>>;
  /** Accepts a malformed history. @default false: it is rejected like OpenAI does */
  readonly lenient?: boolean;
  /** Allows unused answers in the script. @default they make `close()` throw */
  readonly leftOver?: "allowed";
  /** Allows requests that OpenAI's OpenAPI document forbids. @default they make `close()` throw */
  readonly invalid?: "allowed";
}

/** A local imitation of OpenAI's API with a scripted model. */
export interface WireServer extends AsyncDisposable {
  /** `http://127.0.0.1:port/v1`. */
  readonly url: string;
  /** Every request, in order of arrival. */
  readonly requests: readonly SeenRequest[];
  /** Closes every connection. Throws if requests were invalid or the script was not used up. */
  close(): Promise<void>;
}

/**
 * Starts a server that plays one answer for each `POST /responses`, on a real socket. Responses are
 * streamed if the request asks for a stream. If OpenAI's
 * OpenAPI document is available, every request is validated against it.
 *
 * @example
 * await using server = await wireServer([[functionCall("add", { a: 1 })], [message("One.")]]);
 */
export async function startWireServer(
  script: WireScript,
  options: WireServerOptions = {},
): Promise<WireServer> {
  const requests: SeenRequest[] = [];
  const violations: string[] = [];
  const player = createPlayer(script, options);
  let isClosed = false;

  const server = createServer((request, response) => {
    handleExchange(request, response).catch((thrown: unknown) => {
      if (isClosed || response.destroyed) return; // the client has disconnected
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      violations.push(message);
      const error = { message, type: "server_error" };
      if (response.headersSent) response.destroy();
      else send(response, { status: 500, error, headers: { "x-should-retry": "false" } });
    });
  });

  async function handleExchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { seen, json } = await readRequest(request);
    const what = `request ${requests.push(seen)}, ${seen.method} ${seen.path}`;
    response.setHeader("x-request-id", `req_${requests.length}`);
    response.setHeader("openai-processing-ms", "1");
    const problems = findRequestProblems(seen.method, seen.path, json) ?? [];
    if (options.invalid !== "allowed")
      violations.push(...problems.map((problem) => `${what}: ${problem}`));
    const answer = await player.answer(seen, what);
    if ("raw" in answer) answer.raw(request, response);
    else send(response, answer);
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    const ended = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await ended;
    violations.push(...player.listUnused());
    if (violations.length === 0) return;
    throw new Error(["The wire server found problems:", ...violations].join("\n- "));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return { url: `http://127.0.0.1:${port}/v1`, requests, close, [Symbol.asyncDispose]: close };
}

interface Player {
  answer(seen: SeenRequest, what: string): Promise<RouteAnswer>;
  listUnused(): readonly string[];
}

function createPlayer(script: WireScript, options: WireServerOptions): Player {
  const routes = new Map(Object.entries(options.routes ?? {}));
  const nextId = createIdGenerator(typeof script === "function" ? [] : script.flatMap(listItems));
  let played = 0;
  return {
    async answer(seen, what) {
      const { method, path, body } = seen;
      if (`${method} ${path}` !== "POST /responses") {
        const route = routes.get(`${method} ${path}`);
        const missing = { status: 404, error: { message: `Invalid URL (${method} /v1${path})` } };
        return (typeof route === "function" ? await route(seen) : route) ?? missing;
      }
      const refused = findBodyRefusal(body) ?? (options.lenient ? null : findHistoryRefusal(body));
      if (refused) return refused;
      const answer = typeof script === "function" ? await script(seen) : script[played++];
      if (!answer) throw new Error(`The script has no answer to ${what}`);
      const isResponse = isItems(answer) || "output" in answer;
      return isResponse ? createResponse(body, answer, nextId) : answer;
    },
    listUnused() {
      const left = typeof script === "function" ? 0 : script.length - played;
      if (left <= 0 || options.leftOver === "allowed") return [];
      return [`${left} of the script's ${script.length} answers were not requested`];
    },
  };
}

function isItems(answer: WireAnswer): answer is readonly WireItem[] {
  return Array.isArray(answer);
}

function listItems(answer: WireAnswer): readonly WireItem[] {
  if (isItems(answer)) return answer;
  return "output" in answer ? answer.output : [];
}

/** Reads a request; `json` is `undefined` for a form or an empty body. */
async function readRequest(
  request: IncomingMessage,
): Promise<{ seen: SeenRequest; json: unknown }> {
  const { method = "", headers } = request;
  const { pathname, searchParams: query } = new URL(request.url ?? "", "http://127.0.0.1");
  const path = pathname.replace(/^\/v1(?=\/)/, "");
  const bytes = await buffer(request);
  const text = bytes.toString();
  const type = headers["content-type"] ?? "";
  const isForm = type.startsWith("multipart/form-data");
  const form =
    isForm && (await new Response(bytes, { headers: { "content-type": type } }).formData());
  const json = form || text === "" ? undefined : parseJsonOrNull(text);
  const body = form ? Object.fromEntries(form) : isPlainObject(json) ? json : {};
  return { seen: { method, path, query, headers, body, text }, json };
}

/** Parses JSON; `null` if it is invalid. */
function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function send(response: ServerResponse, answer: Exclude<RouteAnswer, { raw: unknown }>): void {
  if ("stall" in answer) return;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if ("bytes" in answer) {
    response.end(answer.bytes);
    return;
  }
  if ("events" in answer) {
    response.setHeader("content-type", "text/event-stream; charset=utf-8");
    response.end(formatEvents(answer.events));
    return;
  }
  const { status = 200 } = answer;
  const body = "json" in answer ? answer.json : { error: { ...defaultError, ...answer.error } };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const defaultError = { message: "", type: "invalid_request_error", param: null, code: null };

const defaultUsage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

/** The request fields that a response repeats, with their defaults. */
const repeatedFields = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  store: true,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
  user: null,
};

function createResponse(
  body: WireItem,
  given: readonly WireItem[] | ResponseAnswer,
  nextId: NextId,
): RouteAnswer {
  const answer = isItems(given) ? { output: given } : given;
  const { headers = {}, usage = defaultUsage, error = null, model = body["model"] } = answer;
  const { incomplete_details = null, id = nextId("resp") } = answer;
  const { status = error ? "failed" : incomplete_details ? "incomplete" : "completed" } = answer;
  const include = readStrings(body, "include");
  const output = addIds(answer.output, nextId).map((item) => omitUnrequested(item, include));
  const echo = Object.entries(repeatedFields).map(([key, value]) => [key, body[key] ?? value]);
  const json = {
    ...Object.fromEntries(echo),
    ...{ id, object: "response", created_at: 1_750_000_000, completed_at: 1_750_000_001 },
    ...{ model, status, error, incomplete_details, output, usage, service_tier: "default" },
  };
  return body["stream"] === true ? { events: toStreamEvents(json), headers } : { json, headers };
}

const prefixes = new Map(
  Object.entries({
    ...{ message: "msg", reasoning: "rs", function_call: "fc", custom_tool_call: "ctc" },
    ...{ web_search_call: "ws", file_search_call: "fs", code_interpreter_call: "ci" },
    ...{ shell_call: "sh", shell_call_output: "sho", apply_patch_call: "apc", compaction: "cmp" },
    ...{ mcp_call: "mcp", mcp_approval_request: "mcpr", mcp_list_tools: "mcpl" },
    ...{ image_generation_call: "ig" },
  }),
);

type NextId = (prefix: string) => string;

/** Creates an id generator that counts up and skips the script's own ids. */
function createIdGenerator(items: readonly WireItem[]): NextId {
  const taken = new Set(items.flatMap((item) => [item["id"], item["call_id"]]));
  return (prefix) => {
    let count = 1;
    while (taken.has(`${prefix}_${count}`)) count++;
    taken.add(`${prefix}_${count}`);
    return `${prefix}_${count}`;
  };
}

/** Adds missing ids to items. An output without a call id gets the last call's. */
function addIds(items: readonly WireItem[], nextId: NextId): readonly WireItem[] {
  let lastCall = "";
  return items.map((item) => {
    const type = readString(item, "type");
    const { id = nextId(prefixes.get(type) ?? "item") } = item;
    if (answeredCalls.has(type)) lastCall = readStringOrNull(item, "call_id") ?? nextId("call");
    const hasCall = answeredCalls.has(type) || type === "shell_call_output";
    return { id, ...(hasCall ? { call_id: lastCall } : {}), ...item };
  });
}

/** Removes the fields that are sent only if the request's `include` lists them. */
function omitUnrequested(item: WireItem, include: readonly string[]): WireItem {
  const isIncluded = (what: string) => include.includes(what);
  const { encrypted_content: _sealed, ...plain } = item;
  const { sources: _sources, ...action } = readRecord(item, "action");
  switch (item["type"]) {
    case "code_interpreter_call":
      return isIncluded("code_interpreter_call.outputs") ? item : { ...item, outputs: null };
    case "file_search_call":
      return isIncluded("file_search_call.results") ? item : { ...item, results: null };
    case "web_search_call":
      return isIncluded("web_search_call.action.sources") ? item : { ...item, action };
    case "reasoning":
      return isIncluded("reasoning.encrypted_content") ? item : plain;
    default:
      return item;
  }
}
