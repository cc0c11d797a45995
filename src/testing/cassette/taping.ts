import { systemClock } from "../../base/clock.ts";
import { type CassetteFile, MAX_BODY_BYTES } from "./cassette-file.ts";
import { toContent } from "./read-request.ts";
import type { RecordedEnding, RecordedExchange, RecordedRequest } from "./recorded-exchange.ts";
import { copyWithoutSecrets, toRecordedFailure } from "./recorded-failure.ts";
import type { Scrubber } from "./scrubber.ts";

/** Parts of the recording of an exchange. */
export interface TapingParts {
  readonly file: CassetteFile;
  readonly scrubber: Scrubber;
  readonly request: RecordedRequest;
  readonly exchange: number;
  readonly sentAt: number;
  readonly atMs: number;
}

/** The recording of one exchange. It is written once, when it has ended. */
export class Taping {
  readonly #parts: TapingParts;
  readonly #chunks: Uint8Array[] = [];
  readonly #times: number[] = [];
  #response: Pick<Response, "status" | "headers" | "body"> | null = null;
  #bytes = 0;
  #isEnded = false;

  constructor(parts: TapingParts) {
    this.#parts = parts;
  }

  /** Returns a response with the same content, which is recorded while it is read. */
  record(answer: Response, signal: AbortSignal, onEnd: () => void): Response {
    const { statusText, headers, body } = answer;
    // Some runtimes hide the status of a redirect that they did not follow.
    const status = answer.type === "opaqueredirect" ? 302 : answer.status;
    this.#response = { status, headers, body };
    const complete = (ending: RecordedEnding) => {
      this.finish(ending);
      onEnd();
    };
    const init = { status, statusText };
    const kept = new Headers([...headers].filter(([name]) => !ENCODING_HEADERS.has(name)));
    if (body === null) {
      complete("complete");
      return new Response(null, { ...init, headers: kept });
    }
    const reader = body.getReader();
    const { scrubber } = this.#parts;
    const source: UnderlyingDefaultSource<Uint8Array> = {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            this.#add(value);
            return controller.enqueue(value);
          }
          complete("complete");
          controller.close();
        } catch (thrown) {
          complete(signal.aborted ? "canceled" : toRecordedFailure(thrown, scrubber));
          controller.error(thrown);
        }
      },
      cancel: async (reason) => {
        complete("canceled");
        await reader.cancel(reason);
      },
    };
    return new Response(new ReadableStream(source, { highWaterMark: 0 }), {
      ...init,
      headers: kept,
    });
  }

  /** Records that the request had no response. */
  fail(thrown: unknown, signal: AbortSignal): void {
    const { scrubber } = this.#parts;
    this.#write(signal.aborted ? "canceled" : { failure: toRecordedFailure(thrown, scrubber) });
  }

  /** Ends the recording. Does nothing if it has ended. */
  finish(ended: RecordedEnding): void {
    if (this.#isEnded) return;
    if (this.#response === null) {
      this.#write("unanswered");
      return;
    }
    const { file, scrubber } = this.#parts;
    const { status, headers, body: stream } = this.#response;
    if (this.#bytes > MAX_BODY_BYTES) {
      file.fail(`a response has ${this.#bytes} bytes, more than ${MAX_BODY_BYTES}`);
      return;
    }
    const clean = scrubber.cleanBytes(
      Buffer.concat(this.#chunks),
      headers.get("content-type") ?? "",
    );
    const body =
      stream === null ? null : toContent(clean, (bytes: Uint8Array) => file.storeBlob(bytes));
    this.#write({
      response: {
        status,
        headers: copyWithoutSecrets(headers, scrubber),
        body,
        chunks: this.#listChunks(clean.length),
        ended,
      },
    });
  }

  #add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#times.push(systemClock.now() - this.#parts.sentAt);
    // A reader may transfer the chunk's memory, so it is copied.
    this.#chunks.push(this.#bytes > MAX_BODY_BYTES ? new Uint8Array() : Uint8Array.from(chunk));
  }

  /** Lists the chunks of the recorded body. If `scrub` changed its length, the last chunks are longer or shorter. */
  #listChunks(length: number): readonly (readonly [number, number])[] {
    let left = length;
    return this.#chunks.map((chunk, index) => {
      const isLast = index === this.#chunks.length - 1;
      const bytes = isLast ? left : Math.min(left, chunk.length);
      left -= bytes;
      return [this.#times[index] ?? 0, bytes] as const;
    });
  }

  #write(outcome: RecordedExchange["outcome"]): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { file, exchange, atMs, request } = this.#parts;
    file.add({ exchange, atMs, request, outcome });
  }
}

/** The body has been decoded, so these headers are no longer true. */
const ENCODING_HEADERS: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "transfer-encoding",
]);
