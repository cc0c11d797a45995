import type { WireItem } from "../../openai/wire.ts";
import type { Ids } from "../ids.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { CreateEvent } from "./client-event.ts";
import { listRequiredInput } from "./list-required-input.ts";
import type { SocketSink } from "./socket-sink.ts";
import { readSteerEvent, type SteerEvent } from "./steer-event.ts";
import type { Steer, SteeredRequest } from "./steered-request.ts";

/** How much steering input may wait for one response. OpenAI publishes no limit. */
const MAX_STEERS = 16;

/** A request that runs, and the steering input that it takes and leaves. */
export interface SteeredTurn {
  /** The request, with the steering input that waited for it. */
  readonly request: SteeredRequest;
  /** Accepts steering input for the response from now on. */
  start(id: string): void;
  /** Ends the response. Returns the request that continues it with its steering input, if there is one. */
  end(response: WireItem): SteeredRequest | null;
  /** Ends a request that failed before its response began. Rejects the request's own steering input. */
  fail(message: string): void;
}

/** A response that accepts steering input. */
interface RunningResponse {
  readonly id: string;
  readonly request: SteeredRequest;
  readonly sink: SocketSink;
  steers: readonly Steer[];
}

/** Services of {@link Steering}. */
export interface SteeringServices {
  readonly ids: Ids;
  readonly catalog: ToolCatalog;
  /** The maximum size of one message, and of the steering input of one response. */
  readonly maxBodyBytes: number;
}

/**
 * The steering input of a connection's responses. Input for a running response is added to the request that follows
 * it: an automatic one, or the client's next request if the response waits for the client's tools.
 */
export class Steering {
  readonly #services: SteeringServices;
  readonly #running = new Map<string, RunningResponse>();
  /** Responses that wait for the client's tools and have steering input, by lane. */
  readonly #waiting = new Map<string | null, RunningResponse>();
  /** The id of each lane's latest response. */
  readonly #latest = new Map<string | null, string>();

  constructor(services: SteeringServices) {
    this.#services = services;
  }

  /** Handles a `response.steer` event. Returns the event that rejects it if the response does not run. */
  steer(event: WireItem, bytes: number): WireItem | null {
    const steer = { ...readSteerEvent(event), bytes };
    const running = this.#running.get(steer.target);
    if (!running) return { ...this.#rejectLate(steer), sequence_number: 0 };
    running.sink.send(this.#accept(steer, running));
    return null;
  }

  /** Starts a request of a lane. */
  begin(waiting: SteeredRequest, sink: SocketSink): SteeredTurn {
    const request = this.#addWaitingInput(waiting, sink);
    let running: RunningResponse | null = null;
    const stop = () => {
      if (running) this.#running.delete(running.id);
      return running;
    };
    return {
      request,
      start: (id) => {
        running = { id, request, sink, steers: [] };
        this.#running.set(id, running);
        this.#latest.set(request.streamId, id);
      },
      end: (response) => {
        const ended = stop();
        return ended && ended.steers.length > 0 ? this.#continue(ended, response) : null;
      },
      fail: (message) => {
        stop();
        const code = "successor_creation_failed";
        for (const steer of request.steers) sink.send(createFailure(steer, code, message));
      },
    };
  }

  #accept(steer: SteerEvent & { readonly bytes: number }, running: RunningResponse): WireItem {
    const { items, bytes } = steer;
    const { request, steers } = running;
    if (items === null) return createFailure(steer, "invalid_input", INVALID_INPUT);
    if (!canBeSteered(request)) return createFailure(steer, "steering_not_supported", UNSUPPORTED);
    const total = steers.reduce((sum, one) => sum + one.bytes, bytes);
    if (steers.length >= MAX_STEERS || total > this.#services.maxBodyBytes)
      return createFailure(steer, "too_many_pending_steers", TOO_MANY);
    const accepted = { ...steer, items, id: this.#services.ids.next("steer_") };
    running.steers = [...steers, accepted];
    return { type: "response.steer.accepted", steer: toReference(accepted) };
  }

  /** Adds the steering input that waits for a request, or rejects it if the request continues another response. */
  #addWaitingInput(request: SteeredRequest, sink: SocketSink): SteeredRequest {
    const { streamId, body } = request;
    const waiting = this.#waiting.get(streamId);
    this.#waiting.delete(streamId);
    if (!waiting) return request;
    const { id, steers } = waiting;
    if (body["previous_response_id"] !== id) {
      for (const steer of steers) sink.send(createFailure(steer, "response_not_active", LEFT));
      return request;
    }
    const input = [...steers.flatMap(({ items }) => items), ...toItems(body["input"])];
    return { ...request, body: { ...body, input }, steers };
  }

  #continue(ended: RunningResponse, response: WireItem): SteeredRequest | null {
    const { id, request, sink, steers } = ended;
    if (response["status"] === "failed") {
      for (const steer of steers) sink.send(createFailure(steer, "response_not_active", FAILED));
      return null;
    }
    const required = listRequiredInput(response, this.#services.catalog);
    if (required.length > 0) {
      this.#waiting.set(request.streamId, ended);
      for (const steer of steers) sink.send(createPending(steer, required));
      return null;
    }
    const input = steers.flatMap(({ items }) => items);
    const body = { ...request.body, previous_response_id: id, input };
    const bytes = steers.reduce((sum, steer) => sum + steer.bytes, 0);
    return { ...request, body, bytes, generate: true, steers, isAutomatic: true };
  }

  #rejectLate(steer: SteerEvent): WireItem {
    const isLatest = [...this.#latest.values()].includes(steer.target);
    return isLatest
      ? createFailure(steer, "response_already_completed", COMPLETED)
      : createFailure(steer, "response_not_found", `Response with id '${steer.target}' not found.`);
  }
}

const INVALID_INPUT =
  "Steering accepts only 'type', 'previous_response_id' and 'input'. The input must be a string or a non-empty array of user messages.";
const UNSUPPORTED =
  "Responses with a conversation or with automatic compaction cannot be steered. Send the input with the next response.create.";
const TOO_MANY = `At most ${MAX_STEERS} steering inputs can wait for a response. Wait for its continuation.`;
const LEFT = "Another response was created instead of the continuation. Send the input again.";
const FAILED = "The response has failed. Send the input with the next response.create.";
const COMPLETED = "The response has completed. Send the input with the next response.create.";

function canBeSteered({ body }: CreateEvent): boolean {
  return (body["conversation"] ?? body["context_management"] ?? null) === null;
}

function toReference({ id, target }: Steer): WireItem {
  return { id, previous_response_id: target };
}

function createPending(steer: Steer, required: readonly WireItem[]): WireItem {
  return {
    type: "response.steer.pending",
    steer: toReference(steer),
    reason: "waiting_for_required_input",
    required_input: required,
  };
}

function createFailure(steer: SteerEvent | Steer, code: string, message: string): WireItem {
  const { target, input } = steer;
  const id = "id" in steer ? { id: steer.id } : {};
  return {
    type: "response.steer.failed",
    steer: { ...id, previous_response_id: target, input },
    error: { type: "invalid_request_error", code, message },
  };
}

function toItems(input: unknown): readonly WireItem[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input : [];
}
