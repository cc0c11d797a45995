import type { WebSocket } from "ws";
import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import type { RequestLog } from "../http/request-log.ts";
import { reportFault } from "../report-fault.ts";
import type { ThreadPoint } from "../responses/conversation/thread.ts";
import { type StreamServices, streamResponse } from "../responses/events/stream-response.ts";
import type { Responses } from "../responses/responses.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import {
  type CreateEvent,
  parseClientEvent,
  readCreateEvent,
  readStreamId,
} from "./client-event.ts";
import { createErrorEvent } from "./create-error-event.ts";
import { ResponseLane } from "./response-lane.ts";
import { SocketSink } from "./socket-sink.ts";
import { SocketWriter } from "./socket-writer.ts";

/** OpenAI's limits of one connection. */
const MAX_RUNNING = 16;
const MAX_NAMED_LANES = 32;
const MAX_MINUTES = 60;

/** How many requests may wait for others. OpenAI publishes no limit. */
const MAX_WAITING = 256;

/** Services of a {@link ResponsesConnection}. */
export interface ConnectionServices extends StreamServices {
  readonly responses: Pick<Responses, "start" | "finish">;
  readonly clock: Clock;
  /** The maximum size of one message, and of all messages that wait together. */
  readonly maxBodyBytes: number;
  /** Reports every turn; `null` if no one listens. */
  readonly log: RequestLog | null;
}

/** A request that waits for its lane. */
interface WaitingRequest extends CreateEvent {
  readonly bytes: number;
}

/**
 * A WebSocket connection of the Responses API. Requests with the same `stream_id` run in order, others at the same
 * time. The latest response of each lane can be continued even if it is not stored.
 */
export class ResponsesConnection {
  readonly #socket: WebSocket;
  readonly #services: ConnectionServices;
  readonly #closed = new AbortController();
  readonly #writer: SocketWriter;
  readonly #lanes = new Map<string | null, ResponseLane>([[null, new ResponseLane()]]);
  #waiting: readonly WaitingRequest[] = [];
  #running = 0;

  constructor(socket: WebSocket, services: ConnectionServices) {
    this.#socket = socket;
    this.#services = services;
    this.#writer = new SocketWriter(socket, this.#closed.signal);
    socket.on("message", (data, isBinary) => this.#onMessage(String(data), isBinary));
    socket.on("error", () => {}); // `close` follows
    socket.on("close", () => this.#onClose());
    this.#closeAfterLimit();
  }

  #onMessage(text: string, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return; // it is being closed
    let streamId: string | null = null;
    try {
      if (isBinary) throw createBinaryProblem();
      const event = parseClientEvent(text);
      streamId = readStreamId(event);
      this.#enqueue({ ...readCreateEvent(event, streamId), bytes: Buffer.byteLength(text) });
    } catch (error) {
      this.#writer.reply(createErrorEvent(this.#toProblem(error), streamId));
    }
  }

  #enqueue(request: WaitingRequest): void {
    const { streamId, bytes } = request;
    if (!this.#lanes.has(streamId) && this.#lanes.size > MAX_NAMED_LANES)
      throw createLaneLimitProblem();
    const waitingBytes = this.#waiting.reduce((sum, one) => sum + one.bytes, bytes);
    const isFull = this.#waiting.length >= MAX_WAITING;
    if (isFull || waitingBytes > this.#services.maxBodyBytes)
      throw createQueueLimitProblem(this.#waiting.length);
    this.#lanes.set(streamId, this.#lanes.get(streamId) ?? new ResponseLane());
    this.#waiting = [...this.#waiting, request];
    this.#runWaiting();
  }

  /** Starts all requests that can run now, in the order of their arrival. */
  #runWaiting(): void {
    this.#waiting = this.#waiting.filter((request) => {
      const lane = this.#lanes.get(request.streamId);
      if (!lane || lane.isRunning || this.#running >= MAX_RUNNING) return true;
      void this.#run(request, lane).then(() => this.#runWaiting());
      return false;
    });
  }

  /** Runs a request. Never rejects. */
  async #run({ streamId, body, generate }: CreateEvent, lane: ResponseLane): Promise<void> {
    this.#running += 1;
    const turn = lane.begin((id) => this.#findResponse(id));
    const sink = new SocketSink(this.#writer, streamId);
    const { responses, log } = this.#services;
    const entry = log?.start("WS", "/v1/responses");
    try {
      const started = responses.start(body, null, { recent: turn.recent, generate });
      await streamResponse(started, this.#services, sink);
      const ending = await sink.ended;
      if ("error" in ending) throw ending.error;
      if (ending.response["status"] === "failed") turn.fail(body["previous_response_id"]);
      else turn.complete();
      entry?.addAnswer(ending.response);
      entry?.end({ status: 200, isStream: true, outcome: "complete" });
    } catch (error) {
      turn.fail(body["previous_response_id"]);
      if (error instanceof ConnectionDroppedError) {
        entry?.end({ status: null, isStream: true, outcome: "dropped" });
        this.#socket.terminate();
      } else if (!this.#closed.signal.aborted) {
        const problem = this.#toProblem(error);
        entry?.addAnswer(problem.body);
        entry?.end({ status: problem.status, isStream: true, outcome: "complete" });
        await this.#writer.send(createErrorEvent(problem, streamId)).catch(() => {});
      }
      entry?.end({ status: null, isStream: true, outcome: "aborted" });
    } finally {
      this.#running -= 1;
    }
  }

  #findResponse(id: string): ThreadPoint | undefined {
    const lane = [...this.#lanes.values()].find((one) => one.get(id));
    return lane?.get(id);
  }

  #toProblem(error: unknown): ApiProblem {
    reportFault(error, this.#services.onFault);
    if (error instanceof ApiProblem) return error;
    const message = `The server had an error while processing your request: ${getErrorMessage(error)}`;
    return new ApiProblem(500, message);
  }

  #closeAfterLimit(): void {
    const { clock } = this.#services;
    clock.sleep(MAX_MINUTES * 60_000, this.#closed.signal, { background: true }).then(
      () => {
        this.#writer.sendNow(createErrorEvent(createAgeLimitProblem()));
        this.#socket.close(1001, "The connection reached its time limit.");
        this.#onClose();
      },
      () => {}, // the connection has closed
    );
  }

  #onClose(): void {
    this.#waiting = [];
    this.#closed.abort(new Error("The client disconnected."));
  }
}

function createBinaryProblem(): ApiProblem {
  const message = "Binary WebSocket messages are not supported. Send JSON in a text message.";
  return new ApiProblem(400, message, { code: "invalid_message" });
}

function createLaneLimitProblem(): ApiProblem {
  const message = `This WebSocket connection has reached its maximum number of distinct stream IDs (${MAX_NAMED_LANES}). Reuse an existing stream_id or open a new WebSocket connection.`;
  const code = "websocket_stream_limit_reached";
  return new ApiProblem(400, message, { param: "stream_id", code });
}

function createQueueLimitProblem(count: number): ApiProblem {
  const message = `This WebSocket connection has ${count} waiting requests and accepts no more. Wait until a response ends, or open a new WebSocket connection.`;
  return new ApiProblem(429, message, { type: "requests", code: "websocket_queue_limit_reached" });
}

function createAgeLimitProblem(): ApiProblem {
  const message = `Responses websocket connection limit reached (${MAX_MINUTES} minutes). Create a new websocket connection to continue.`;
  return new ApiProblem(400, message, { code: "websocket_connection_limit_reached" });
}
