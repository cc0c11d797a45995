import { ApiProblem } from "../api-problem.ts";
import type { SteeredRequest } from "./steered-request.ts";

/** How many requests may wait. OpenAI publishes no limit. */
const MAX_WAITING = 256;

/** The requests of a connection that wait for others to end. */
export class RequestQueue {
  readonly #maxBytes: number;
  #requests: readonly SteeredRequest[] = [];

  /** `maxBytes` limits the size of all waiting requests together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a request at the end. Throws if too many requests wait. */
  add(request: SteeredRequest): void {
    const count = this.#requests.length;
    const bytes = this.#requests.reduce((sum, one) => sum + one.bytes, request.bytes);
    if (count >= MAX_WAITING || bytes > this.#maxBytes) throw createQueueProblem(count);
    this.#requests = [...this.#requests, request];
  }

  /** Adds a request that runs before the others of its lane. */
  addFirst(request: SteeredRequest): void {
    this.#requests = [request, ...this.#requests];
  }

  /** Removes and returns the first request that can run. */
  take(canRun: (request: SteeredRequest) => boolean): SteeredRequest | undefined {
    const found = this.#requests.find(canRun);
    if (found) this.#requests = this.#requests.filter((request) => request !== found);
    return found;
  }

  clear(): void {
    this.#requests = [];
  }
}

function createQueueProblem(count: number): ApiProblem {
  const message = `This WebSocket connection has ${count} waiting requests and accepts no more. Wait until a response ends, or open a new WebSocket connection.`;
  return new ApiProblem(429, message, { type: "requests", code: "websocket_queue_limit_reached" });
}
