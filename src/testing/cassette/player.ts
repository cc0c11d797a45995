import { raceAbort } from "../../base/clock.ts";
import { CassetteError, createClosedError } from "./cassette-error.ts";
import { readContent } from "./check-exchange.ts";
import { describeDifference } from "./describe-difference.ts";
import { GeneratedNames, type RequestShape, toRequestShape } from "./generated-names.ts";
import { matchesMasked } from "./matches-masked.ts";
import { readCassette } from "./read-cassette.ts";
import { digestBlob, readRequest } from "./read-request.ts";
import type { RecordedExchange, RecordedResponse, Recording } from "./recorded-exchange.ts";
import { createFailure } from "./recorded-failure.ts";
import type { Scrubber } from "./scrubber.ts";
import { isEmptyStatus } from "./undici-sender.ts";

/** An exchange with its request in the form in which it is compared. */
interface Candidate {
  readonly exchange: RecordedExchange;
  readonly shape: RequestShape;
}

interface Tape {
  readonly recording: Recording;
  readonly candidates: readonly Candidate[];
}

/** Answers requests from a cassette. Never uses the network. */
export class Player {
  readonly #path: string;
  readonly #scrubber: Scrubber;
  readonly #names = new GeneratedNames();
  readonly #used = new Set<number>();
  #tape: Promise<Tape> | null = null;
  #count = 0;
  #difference: CassetteError | null = null;
  #isClosed = false;

  constructor(path: string, scrubber: Scrubber) {
    this.#path = path;
    this.#scrubber = scrubber;
  }

  async fetch(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    if (this.#isClosed) throw createClosedError(this.#path);
    const number = ++this.#count;
    const request = new Request(input, init);
    const { signal } = request;
    const { recording, candidates } = await this.#load();
    const { recorded } = await readRequest(request, this.#scrubber, digestBlob);
    // The first difference is the cause of all later ones.
    if (this.#difference) throw this.#difference;
    const shape = toRequestShape(recorded);
    const found = candidates.find(
      (one) =>
        !this.#used.has(one.exchange.exchange) &&
        equalsMasked(one.shape.text, shape.text) &&
        this.#names.canPair(one.shape.names, shape.names),
    );
    if (!found) {
      signal.throwIfAborted(); // when a request is aborted depends on time, and so do requests like it
      this.#difference = new CassetteError(
        describeDifference({ path: this.#path, number, shape, candidates, used: this.#used }),
      );
      throw this.#difference;
    }
    this.#used.add(found.exchange.exchange);
    this.#names.pair(found.shape.names, shape.names);
    signal.throwIfAborted();
    return await this.#answer(found.exchange, recording, signal);
  }

  /** Throws the first difference, or an error if recorded requests were not sent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { candidates } = await this.#load();
    if (this.#difference) throw this.#difference;
    const unused = candidates
      .map(({ exchange }) => exchange)
      .filter((one) => !this.#used.has(one.exchange) && !dependsOnTime(one));
    if (unused.length === 0) return;
    const list = unused
      .slice(0, MAX_LISTED)
      .map(({ exchange, request }) => `\n  ${exchange}. ${request.method} ${request.path}`);
    const more = unused.length > MAX_LISTED ? `\n  … and ${unused.length - MAX_LISTED} more` : "";
    throw new CassetteError(
      `${unused.length} of ${candidates.length} recorded requests of ${this.#path} were not sent:${list.join("")}${more}\nIf the run ended early, find out why. If the change is intended, record the run again with mode: "record".`,
    );
  }

  #load(): Promise<Tape> {
    this.#tape ??= readCassette(this.#path).then((recording) => ({
      recording,
      candidates: recording.exchanges.map((exchange) => ({
        exchange,
        shape: toRequestShape(exchange.request),
      })),
    }));
    return this.#tape;
  }

  async #answer(
    { exchange, outcome }: RecordedExchange,
    { blobs }: Recording,
    signal: AbortSignal,
  ): Promise<Response> {
    if (outcome === "canceled") return await waitForAbort(signal);
    const createEnd = () => this.#createEndError(exchange);
    if (outcome === "unanswered") throw createEnd();
    if ("failure" in outcome) throw createFailure(outcome.failure);
    const { status, headers, body } = outcome.response;
    if (body === null || isEmptyStatus(status)) return new Response(null, { status, headers });
    const bytes = this.#names.toCurrent(readContent(body, blobs));
    return new Response(createStream(bytes, outcome.response, { signal, createEnd }), {
      status,
      headers,
    });
  }

  /** The code under test waits for more than was recorded. */
  #createEndError(exchange: number): CassetteError {
    this.#difference ??= new CassetteError(
      `The response of exchange ${exchange} of ${this.#path} was not read to its end before the cassette was closed. Read all responses, then close the cassette, and record the run again with mode: "record".`,
    );
    return this.#difference;
  }
}

const MAX_LISTED = 10;

/** Whether a request equals a recorded one. An older version may have masked less, or secrets were revealed in another order. */
function equalsMasked(recorded: string, text: string): boolean {
  return matchesMasked(recorded, text) || matchesMasked(text, recorded);
}

/** Whether a request is sent only if a run takes long: a workspace checks its container while a turn runs. */
function dependsOnTime({ request }: RecordedExchange): boolean {
  return request.method === "GET" && /\/containers\/[^/?]+$/.test(request.path);
}

/** Delivers the chunks of a body as they were recorded, without delays. */
function createStream(
  bytes: Uint8Array,
  { chunks, ended }: RecordedResponse,
  { signal, createEnd }: { readonly signal: AbortSignal; readonly createEnd: () => Error },
): ReadableStream<Uint8Array> {
  let [next, at] = [0, 0];
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      signal.throwIfAborted();
      const chunk = chunks[next];
      if (chunk) {
        const [, length] = chunk;
        next += 1;
        at += length;
        return controller.enqueue(Uint8Array.from(bytes.subarray(at - length, at)));
      }
      if (ended === "complete") return controller.close();
      if (ended === "unread") throw createEnd();
      if (ended !== "canceled") throw createFailure(ended);
      await waitForAbort(signal); // the reader stopped here
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Waits until the caller aborts, as it did when the run was recorded. */
async function waitForAbort(signal: AbortSignal): Promise<never> {
  return await raceAbort(new Promise<never>(() => {}), signal);
}
