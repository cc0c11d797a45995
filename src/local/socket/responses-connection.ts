import type { WebSocket } from "ws";
import type { Clock } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { OpenRequest, RequestLog } from "../http/request-log.ts";
import { reportFault } from "../report-fault.ts";
import type { ThreadPoint } from "../responses/conversation/thread.ts";
import { type StreamServices, streamResponse } from "../responses/events/stream-response.ts";
import type { ResponseRunner } from "../responses/started-response.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { parseClientEvent, readCreateEvent, readStreamId } from "./client-event.ts";
import { createErrorEvent } from "./create-error-event.ts";
import { RequestQueue } from "./request-queue.ts";
import { type LaneTurn, ResponseLane } from "./response-lane.ts";
import { SocketSink } from "./socket-sink.ts";
import { SocketWriter } from "./socket-writer.ts";
import type { SteeredRequest } from "./steered-request.ts";
import { type SteeredTurn, Steering, type SteeringServices } from "./steering.ts";

/** OpenAI's limits of one connection. */
const MAX_RUNNING = 16;
const MAX_NAMED_LANES = 32;
const MAX_MINUTES = 60;

/** Services of a {@link ResponsesConnection}. `maxBodyBytes` also limits all waiting requests together. */
export interface ConnectionServices extends StreamServices, SteeringServices {
  readonly responses: ResponseRunner;
  readonly clock: Clock;
  /** Reports every turn; `null` if no one listens. */
  readonly log: RequestLog | null;
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
  readonly #queue: RequestQueue;
  readonly #steering: Steering;
  readonly #lanes = new Map<string | null, ResponseLane>([[null, new ResponseLane()]]);
  #running = 0;

  constructor(socket: WebSocket, services: ConnectionServices) {
    this.#socket = socket;
    this.#services = services;
    this.#writer = new SocketWriter(socket, this.#closed.signal);
    this.#queue = new RequestQueue(services.maxBodyBytes);
    this.#steering = new Steering(services);
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
      const bytes = Buffer.byteLength(text);
      if (event["type"] === "response.steer") this.#steer(event, bytes);
      else {
        streamId = readStreamId(event);
        this.#addLane(streamId);
        const request = { ...readCreateEvent(event, streamId), bytes };
        this.#queue.add({ ...request, steers: [], isAutomatic: false });
        this.#runWaiting();
      }
    } catch (error) {
      this.#writer.reply(createErrorEvent(this.#toProblem(error), streamId));
    }
  }

  #steer(event: WireItem, bytes: number): void {
    const rejection = this.#steering.steer(event, bytes);
    if (rejection) this.#writer.reply(rejection);
  }

  #addLane(streamId: string | null): void {
    if (this.#lanes.has(streamId)) return;
    if (this.#lanes.size > MAX_NAMED_LANES) throw createLaneProblem();
    this.#lanes.set(streamId, new ResponseLane());
  }

  /** Starts all requests that can run now, in the order of their arrival. */
  #runWaiting(): void {
    while (this.#running < MAX_RUNNING) {
      const request = this.#queue.take(({ streamId }) => !this.#lanes.get(streamId)?.isRunning);
      const lane = request && this.#lanes.get(request.streamId);
      if (!lane) return;
      void this.#run(request, lane).then(() => this.#runWaiting());
    }
  }

  /** Runs a request. Never rejects. */
  async #run(waiting: SteeredRequest, lane: ResponseLane): Promise<void> {
    this.#running += 1;
    const sink = new SocketSink(this.#writer, waiting.streamId);
    const steered = this.#steering.begin(waiting, sink);
    const previous = steered.request.body["previous_response_id"];
    const turn = lane.begin((id) => this.#findResponse(id));
    const entry = this.#services.log?.start("WS", "/v1/responses");
    try {
      const response = await this.#runTurn(steered, turn, sink);
      if (response["status"] === "failed") turn.fail(previous);
      else turn.complete();
      entry?.addAnswer(response);
      entry?.end({ status: 200, isStream: true, outcome: "complete" });
      const next = steered.end(response);
      if (next) this.#queue.addFirst(next);
    } catch (error) {
      turn.fail(previous);
      this.#reportFailure(error, steered, entry);
    } finally {
      this.#running -= 1;
    }
  }

  async #runTurn(
    { request, start }: SteeredTurn,
    { recent }: LaneTurn,
    sink: SocketSink,
  ): Promise<WireItem> {
    const { body, generate } = request;
    const started = this.#services.responses.start(body, null, { recent, generate });
    start(String(started.response["id"]));
    await streamResponse(started, this.#services, sink);
    return await sink.ended;
  }

  /** Reports a request that failed before its response began, or whose connection is lost. */
  #reportFailure(error: unknown, { request, fail }: SteeredTurn, entry?: OpenRequest): void {
    const isDropped = error instanceof ConnectionDroppedError;
    if (isDropped || this.#closed.signal.aborted) {
      const outcome = isDropped ? "dropped" : "aborted";
      entry?.end({ status: null, isStream: true, outcome });
      if (isDropped) this.#socket.terminate();
      return;
    }
    const problem = this.#toProblem(error);
    entry?.addAnswer(problem.body);
    entry?.end({ status: problem.status, isStream: true, outcome: "complete" });
    fail(problem.message);
    if (!request.isAutomatic) this.#writer.reply(createErrorEvent(problem, request.streamId));
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
        this.#writer.sendNow(createErrorEvent(createAgeProblem()));
        this.#socket.close(1001, "The connection reached its time limit.");
        this.#onClose();
      },
      () => {}, // the connection has closed
    );
  }

  #onClose(): void {
    this.#queue.clear();
    this.#closed.abort(new Error("The client disconnected."));
  }
}

function createBinaryProblem(): ApiProblem {
  const message = "Binary WebSocket messages are not supported. Send JSON in a text message.";
  return new ApiProblem(400, message, { code: "invalid_message" });
}

function createLaneProblem(): ApiProblem {
  const message = `This WebSocket connection has reached its maximum number of distinct stream IDs (${MAX_NAMED_LANES}). Reuse an existing stream_id or open a new WebSocket connection.`;
  const code = "websocket_stream_limit_reached";
  return new ApiProblem(400, message, { param: "stream_id", code });
}

function createAgeProblem(): ApiProblem {
  const message = `Responses websocket connection limit reached (${MAX_MINUTES} minutes). Create a new websocket connection to continue.`;
  return new ApiProblem(400, message, { code: "websocket_connection_limit_reached" });
}
