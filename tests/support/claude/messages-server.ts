import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { readRecords, readString, type UnknownRecord } from "../../../src/base/json.ts";

/** The model's response in Anthropic's format, or a failure of the request. */
export type MessagesAnswer =
  | {
      readonly content: readonly UnknownRecord[];
      readonly usage?: UnknownRecord;
      readonly stop?: string;
      /** Id of the message and of the request. @default a new one */
      readonly id?: string;
      /** Where the connection is lost: after these blocks, or in the last one. */
      readonly cut?: "after" | "within";
    }
  | {
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly drop: true }
  | { readonly stall: true };

/** A received request of the main conversation. */
export interface ReceivedRequest {
  readonly body: UnknownRecord;
  readonly text: string;
  readonly headers: IncomingMessage["headers"];
}

/** A local server for Anthropic's Messages API, with a scripted model. */
export interface MessagesServer extends AsyncDisposable {
  /** The value for `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

/** One answer for each request of the main conversation, or a function that creates them. */
export type MessagesScript =
  | readonly MessagesAnswer[]
  | ((request: ReceivedRequest, number: number) => MessagesAnswer | Promise<MessagesAnswer>);

/**
 * Starts a server that plays a script on a real socket. The SDK's auxiliary requests (for web search,
 * schema enforcement and compaction) do not consume answers of the script.
 */
export async function startMessagesServer(script: MessagesScript): Promise<MessagesServer> {
  const requests: ReceivedRequest[] = [];
  let last: MessagesAnswer = { content: [textBlock("Nothing yet.")] };

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    if (!request.url?.startsWith("/v1/messages") || request.url.includes("count_tokens")) {
      response.end(JSON.stringify({ input_tokens: Math.ceil(text.length / 4) }));
      return;
    }
    const body = JSON.parse(text) as UnknownRecord;
    if (isWebSearch(body)) return streamMessage(response, body, { content: SEARCH_BLOCKS });
    if (text.includes("[structured-output-enforce]")) return sendAnswer(response, body, last);
    if (text.includes("followed by a <summary> block"))
      return streamMessage(response, body, {
        content: [textBlock("<summary>Much was read.</summary>")],
      });
    const received = { body, text, headers: request.headers };
    requests.push(received);
    last = await nextAnswer(received);
    sendAnswer(response, body, last);
  }

  async function nextAnswer(received: ReceivedRequest): Promise<MessagesAnswer> {
    if (typeof script === "function") return await script(received, requests.length);
    const noAnswer = { status: 403, type: "permission_error", message: "The script has ended" };
    return script[requests.length - 1] ?? noAnswer;
  }

  const server = createServer((request, response) => {
    handleRequest(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = isPlainObject(address) || address === null ? Object(address).port : address;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, requests, close, [Symbol.asyncDispose]: close };
}

let calls = 0;

/** Creates a `tool_use` block. The prompt's tools are named `mcp__wink__…`. */
export function toolUse(name: string, input: object, id?: string): UnknownRecord {
  calls += 1;
  return { type: "tool_use", id: id ?? `toolu_${calls}`, name, input };
}

/** Creates a `tool_use` block whose input arrives as this JSON. */
export function jsonToolUse(name: string, json: string): UnknownRecord {
  return { ...toolUse(name, JSON.parse(json)), json };
}

/** Creates a `thinking` block. */
export function createThinking(thinking: string): UnknownRecord {
  return { type: "thinking", thinking };
}

/** Creates a `text` block. */
export function textBlock(text: string): UnknownRecord {
  return { type: "text", text };
}

const SOURCE = { title: "Owls", url: "https://owls.example/night" };

const SEARCH_BLOCKS: readonly UnknownRecord[] = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "owls" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [
      { type: "web_search_result", ...SOURCE, encrypted_content: "b3dscw==", page_age: null },
    ],
  },
  textBlock("Owls hunt at night."),
];

function isWebSearch(body: UnknownRecord): boolean {
  return readRecords(body, "tools").some((tool) =>
    readString(tool, "type").startsWith("web_search_"),
  );
}

function sendAnswer(response: ServerResponse, body: UnknownRecord, script: MessagesAnswer): void {
  if ("content" in script) streamMessage(response, body, script);
  else if ("drop" in script) response.destroy();
  else if ("status" in script) {
    const { status, type, message, headers } = script;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_x" }));
  }
}

let messages = 0;

function streamMessage(
  response: ServerResponse,
  { model }: UnknownRecord,
  {
    content,
    usage,
    stop,
    cut,
    id = String(messages + 1),
  }: Extract<MessagesAnswer, { content: unknown }>,
): void {
  messages += 1;
  const isCall = content.some(({ type }) => type === "tool_use");
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${id}` });
  const used = { input_tokens: 10, output_tokens: 5, ...usage };
  const about = { type: "message", role: "assistant", content: [], stop_reason: null };
  const message = { id: `msg_${id}`, model, ...about, stop_sequence: null };
  send("message_start", { message: { ...message, usage: { ...used, output_tokens: 1 } } });
  for (const [index, block] of content.entries()) {
    const events = toBlockEvents(block);
    const isCutWithin = cut === "within" && index === content.length - 1;
    for (const [type, data] of events.slice(0, isCutWithin ? -1 : events.length))
      send(type, { index, ...data });
  }
  if (cut) {
    setTimeout(() => response.destroy(), 100); // lets the written blocks arrive first
    return;
  }
  const delta = { stop_reason: stop ?? (isCall ? "tool_use" : "end_turn"), stop_sequence: null };
  send("message_delta", { delta, usage: used });
  send("message_stop", {});
  response.end();
}

function toBlockEvents(block: UnknownRecord): readonly (readonly [string, object])[] {
  const end = ["content_block_stop", {}] as const;
  const createStart = (content_block: object) =>
    ["content_block_start", { content_block }] as const;
  const createDelta = (delta: object) => ["content_block_delta", { delta }] as const;
  if (block["type"] === "text")
    return [
      createStart({ type: "text", text: "" }),
      ...cutInPieces(block["text"]).map((text) => createDelta({ type: "text_delta", text })),
      end,
    ];
  if (block["type"] === "thinking")
    return [
      createStart({ type: "thinking", thinking: "", signature: "" }),
      ...cutInPieces(block["thinking"]).map((thinking) =>
        createDelta({ type: "thinking_delta", thinking }),
      ),
      createDelta({ type: "signature_delta", signature: "c2lnbmVk" }),
      end,
    ];
  if (!("input" in block)) return [createStart(block), end];
  const pieces = cutInPieces(block["json"] ?? JSON.stringify(block["input"]));
  const { json: _json, ...rest } = block;
  return [
    createStart({ ...rest, input: {} }),
    ...pieces.map((partial_json) => createDelta({ type: "input_json_delta", partial_json })),
    end,
  ];
}

/** Cuts a text in up to four pieces, as a model's text arrives. */
function cutInPieces(value: unknown): readonly string[] {
  const text = String(value);
  const size = Math.ceil(text.length / 4);
  const starts = [0, 1, 2, 3].map((index) => index * size);
  return starts.map((start) => text.slice(start, start + size)).filter((piece) => piece !== "");
}
