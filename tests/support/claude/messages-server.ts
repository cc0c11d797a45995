import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { recordsAt, textAt } from "../../../src/base/reading.ts";

type Given = Readonly<Record<string, unknown>>;

/** What the model answers, in Anthropic's words, or what befalls the request. */
export type MessagesAnswer =
  | {
      readonly content: readonly Given[];
      readonly usage?: Given;
      readonly stop?: string;
      /** The connection is lost after these blocks. */
      readonly isCut?: boolean;
    }
  | {
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly drop: true }
  | { readonly stall: true };

/** A request of the main conversation. */
export interface SeenMessages {
  readonly body: Given;
  readonly text: string;
  readonly headers: IncomingMessage["headers"];
}

/** Anthropic's Messages API on this machine, with a script for a model. */
export interface MessagesServer extends AsyncDisposable {
  /** What goes into `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly SeenMessages[];
  close(): Promise<void>;
}

/** One answer for each request of the main conversation, or what makes them. */
export type MessagesScript =
  | readonly MessagesAnswer[]
  | ((request: SeenMessages, number: number) => MessagesAnswer | Promise<MessagesAnswer>);

/**
 * Plays a script on a real socket. What the SDK asks on the side (to search the web, to have an
 * answer in its schema after all, or to make a long conversation shorter) takes no answer of the script.
 */
export async function messagesServer(script: MessagesScript): Promise<MessagesServer> {
  const requests: SeenMessages[] = [];
  let last: MessagesAnswer = { content: [say("Nothing yet.")] };

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    if (!request.url?.startsWith("/v1/messages") || request.url.includes("count_tokens")) {
      response.end(JSON.stringify({ input_tokens: Math.ceil(text.length / 4) }));
      return;
    }
    const body = JSON.parse(text) as Given;
    if (isWebSearch(body)) return stream(response, body, { content: searched });
    if (text.includes("[structured-output-enforce]")) return answer(response, body, last);
    if (text.includes("followed by a <summary> block"))
      return stream(response, body, { content: [say("<summary>Much was read.</summary>")] });
    const seen = { body, text, headers: request.headers };
    requests.push(seen);
    last = await next(seen);
    answer(response, body, last);
  }

  async function next(seen: SeenMessages): Promise<MessagesAnswer> {
    if (typeof script === "function") return await script(seen, requests.length);
    const over = { status: 403, type: "permission_error", message: "The script is over" };
    return script[requests.length - 1] ?? over;
  }

  const server = createServer((request, response) => {
    exchange(request, response).catch(() => response.destroy());
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

/** A call of a tool, ours by its model-side name. */
export function use(name: string, input: object, id?: string): Given {
  calls += 1;
  return { type: "tool_use", id: id ?? `toolu_${calls}`, name, input };
}

/** Words of the model. */
export function say(text: string): Given {
  return { type: "text", text };
}

const SOURCE = { title: "Owls", url: "https://owls.example/night" };

const searched: readonly Given[] = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "owls" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [
      { type: "web_search_result", ...SOURCE, encrypted_content: "b3dscw==", page_age: null },
    ],
  },
  say("Owls hunt at night."),
];

function isWebSearch(body: Given): boolean {
  return recordsAt(body, "tools").some((tool) => textAt(tool, "type").startsWith("web_search_"));
}

function answer(response: ServerResponse, body: Given, given: MessagesAnswer): void {
  if ("content" in given) stream(response, body, given);
  else if ("drop" in given) response.destroy();
  else if ("status" in given) {
    const { status, type, message, headers } = given;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_x" }));
  }
}

let messages = 0;

function stream(
  response: ServerResponse,
  { model }: Given,
  { content, usage, stop, isCut = false }: Extract<MessagesAnswer, { content: unknown }>,
): void {
  messages += 1;
  const isCall = content.some(({ type }) => type === "tool_use");
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${messages}` });
  const used = { input_tokens: 10, output_tokens: 5, ...usage };
  const about = { type: "message", role: "assistant", content: [], stop_reason: null };
  const message = { id: `msg_${messages}`, model, ...about, stop_sequence: null };
  send("message_start", { message: { ...message, usage: { ...used, output_tokens: 1 } } });
  for (const [index, block] of content.entries()) {
    for (const [type, data] of blockEvents(block)) send(type, { index, ...data });
  }
  if (isCut) {
    setTimeout(() => response.destroy(), 100); // what was written gets there first
    return;
  }
  const delta = { stop_reason: stop ?? (isCall ? "tool_use" : "end_turn"), stop_sequence: null };
  send("message_delta", { delta, usage: used });
  send("message_stop", {});
  response.end();
}

function blockEvents(block: Given): readonly (readonly [string, object])[] {
  const end = ["content_block_stop", {}] as const;
  const begin = (content_block: object) => ["content_block_start", { content_block }] as const;
  const grow = (delta: object) => ["content_block_delta", { delta }] as const;
  if (block["type"] === "text")
    return [
      begin({ type: "text", text: "" }),
      grow({ type: "text_delta", text: block["text"] }),
      end,
    ];
  if (!("input" in block)) return [begin(block), end];
  const partial_json = JSON.stringify(block["input"]);
  return [begin({ ...block, input: {} }), grow({ type: "input_json_delta", partial_json }), end];
}
