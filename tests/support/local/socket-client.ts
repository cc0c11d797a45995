import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import type { WireItem } from "../../../src/openai/wire.ts";
import { findStreamProblems } from "./event-problems.ts";

/** An event of the server. */
export type SocketEvent = WireItem & { readonly type: string };

/** A WebSocket connection to a provider, for one test. Its streams are validated against OpenAI's document. */
export interface SocketClient {
  readonly socket: WebSocket;
  /** Sends a `response.create` event. */
  create(body: WireItem): void;
  /** Sends any event or text. */
  send(message: WireItem | string | Buffer): void;
  /** Returns the next event. */
  next(): Promise<SocketEvent>;
  /** Returns the events until the end of a response or an error, that one included. */
  readTurn(): Promise<readonly SocketEvent[]>;
  /** Reads one turn and returns the response of its last event. */
  readResponse(): Promise<WireItem>;
  /** Reads one turn and returns its last event, which must be an error. */
  readError(): Promise<WireItem>;
  /** Resolves when the connection has closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Connects to `/responses` of a base URL. The connection ends with the test. */
export async function openSocketClient(
  url: string,
  options: ClientOptions = {},
): Promise<SocketClient> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/responses`, options);
  onTestFinished(() => socket.terminate());
  const events: SocketEvent[] = [];
  const readers: ((event: SocketEvent) => void)[] = [];
  socket.on("message", (data) => {
    const event: SocketEvent = JSON.parse(String(data));
    const reader = readers.shift();
    if (reader) reader(event);
    else events.push(event);
  });
  const closed = once(socket, "close").then(([code, reason]) => ({
    code: Number(code),
    reason: String(reason),
  }));
  await once(socket, "open");
  const next = async () =>
    events.shift() ?? (await new Promise<SocketEvent>((resolve) => readers.push(resolve)));
  const send = (message: WireItem | string | Buffer) => {
    const isRaw = typeof message === "string" || Buffer.isBuffer(message);
    socket.send(isRaw ? message : JSON.stringify(message));
  };
  const readTurn = async () => {
    const turn: SocketEvent[] = [];
    do turn.push(await next());
    while (!ENDS.has(turn.at(-1)?.type ?? ""));
    const stream = turn.filter(({ type }) => type !== "error");
    expect(findStreamProblems(stream.map(({ stream_id: _, ...event }) => event))).toEqual([]);
    return turn;
  };
  return {
    socket,
    send,
    create: (body) => send({ type: "response.create", model: "any", ...body }),
    next,
    readTurn,
    async readResponse() {
      const last = (await readTurn()).at(-1);
      return (last?.["response"] ?? last ?? {}) as WireItem;
    },
    async readError() {
      const last = (await readTurn()).at(-1);
      expect(last).toMatchObject({ type: "error" });
      return last ?? {};
    },
    closed,
  };
}

const ENDS = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);
