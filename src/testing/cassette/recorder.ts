import { systemClock } from "../../base/clock.ts";
import { createClosedError } from "./cassette-error.ts";
import { CassetteFile, MAX_BODY_BYTES } from "./cassette-file.ts";
import { readRequest } from "./read-request.ts";
import type { Scrubber } from "./scrubber.ts";
import { Taping } from "./taping.ts";

/** Sends requests and records them with their responses. */
export class Recorder {
  readonly #path: string;
  readonly #send: typeof globalThis.fetch;
  readonly #scrubber: Scrubber;
  readonly #startedAt = systemClock.now();
  /** Ends the recording of each exchange that has not ended. */
  readonly #open = new Set<() => void>();
  #file: Promise<CassetteFile> | null = null;
  #count = 0;
  #isClosed = false;

  constructor(path: string, send: typeof globalThis.fetch, scrubber: Scrubber) {
    this.#path = path;
    this.#send = send;
    this.#scrubber = scrubber;
  }

  async fetch(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    if (this.#isClosed) throw createClosedError(this.#path);
    const exchange = ++this.#count;
    const sentAt = systemClock.now();
    const request = new Request(input, init);
    const file = await this.#openFile();
    const storeBlob = (bytes: Uint8Array) => file.storeBlob(bytes);
    const { recorded, bytes } = await readRequest(request, this.#scrubber, storeBlob);
    if (bytes && bytes.length > MAX_BODY_BYTES) {
      file.fail(`a request has ${bytes.length} bytes, more than ${MAX_BODY_BYTES}`);
    }
    const taping = new Taping({
      ...{ file, scrubber: this.#scrubber, request: recorded, exchange, sentAt },
      atMs: sentAt - this.#startedAt,
    });
    const abandon = () => taping.finish("unread");
    this.#open.add(abandon);
    const onEnd = () => void this.#open.delete(abandon);
    try {
      const { url, method, headers, redirect, signal } = request;
      const answer = await this.#send(url, { method, headers, redirect, signal, body: bytes });
      return taping.record(answer, signal, onEnd);
    } catch (thrown) {
      taping.fail(thrown, request.signal);
      onEnd();
      throw thrown;
    }
  }

  /** Ends the recording and writes the cassette. Responses that were not read to their end are recorded up to there. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const abandon of this.#open) abandon();
    await (await this.#openFile()).finish();
  }

  #openFile(): Promise<CassetteFile> {
    this.#file ??= CassetteFile.create(this.#path);
    return this.#file;
  }
}
