import type { Clock } from "../../base/clock.ts";
import { raceAbort } from "../../base/clock.ts";
import { TransportFetchError } from "../errors/transport-errors.ts";
import { type IdleTimeout, startIdleTimeout } from "./idle-timeout.ts";
import {
  encodeForm,
  isForm,
  isNode,
  type Multipart,
  type Transport,
  toStream,
} from "./transport.ts";

/** Sends requests with `fetch`. Aborts work even if a caller's `fetch` ignores its signal. */
export function fetchTransport(fetch: typeof globalThis.fetch, clock: Clock): Transport {
  return async (request) => {
    const idleTimeout = startIdleTimeout(request.timeoutMs, clock);
    const signal = request.signal
      ? AbortSignal.any([request.signal, idleTimeout.signal])
      : idleTimeout.signal;
    try {
      const { method, body } = request;
      const content = isForm(body)
        ? createFormContent(body, fetch, idleTimeout)
        : createPlainContent(body);
      const headers = { ...request.headers, ...content.headers };
      const send = async () => await fetch(request.url, { method, signal, ...content, headers });
      const response = await wrapThrown(send, signal);
      idleTimeout.pause();
      const reader = response.body?.getReader();
      const cancel = () => {
        idleTimeout.stop();
        // This only frees the connection; its error does not matter.
        reader?.cancel().catch(() => {});
      };
      return {
        // Browsers hide the status of a redirect that they did not follow.
        status: response.type === "opaqueredirect" ? 302 : response.status,
        header: (name) => response.headers.get(name),
        chunks: readChunks(reader, { idleTimeout, signal, cancel }),
        cancel,
      };
    } catch (error) {
      idleTimeout.stop();
      throw error;
    }
  };
}

/** The parts of a `fetch` call that depend on the body. */
interface Content {
  readonly body: BodyInit | null;
  readonly redirect: RequestRedirect;
  readonly headers?: Readonly<Record<string, string>>;
  readonly duplex?: "half";
}

function createPlainContent(body: string | Uint8Array | null): Content {
  const isBytes = body instanceof Uint8Array;
  return { body: isBytes ? new Uint8Array(body) : body, redirect: "manual" }; // an ArrayBuffer's view
}

/**
 * Node's `fetch` buffers the body it sends unless redirects are errors. It accepts a stream, so that
 * sending restarts the idle timeout. Other implementations may not, and get a `FormData`. Cloudflare
 * Workers do not accept `redirect: "error"`.
 */
function createFormContent(
  form: Multipart,
  fetch: typeof globalThis.fetch,
  idleTimeout: IdleTimeout,
): Content {
  const redirect = isNode() ? "error" : "manual";
  if (!isNode() || fetch !== globalThis.fetch) {
    const fields = new FormData();
    for (const [name, value] of form) fields.append(name, value);
    return { body: fields, redirect };
  }
  const { contentType, length, pieces } = encodeForm(form);
  const small = splitIntoPieces(pieces(), idleTimeout);
  return {
    body: toStream(small, () => void small.return(undefined)),
    redirect,
    headers: { "content-type": contentType, "content-length": String(length) },
    duplex: "half",
  };
}

/** Small pieces trigger garbage collection before the file's own buffers pile up. */
const PIECE_BYTES = 8 * 1024;

async function* splitIntoPieces(
  pieces: AsyncIterable<Uint8Array>,
  idleTimeout: IdleTimeout,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      idleTimeout.restart("UND_ERR_HEADERS_TIMEOUT");
      yield piece.subarray(at, at + PIECE_BYTES);
    }
  }
}

interface ReadOptions {
  readonly idleTimeout: IdleTimeout;
  readonly signal: AbortSignal;
  cancel(): void;
}

async function* readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  { idleTimeout, signal, cancel }: ReadOptions,
): AsyncGenerator<Uint8Array> {
  try {
    while (reader) {
      idleTimeout.restart("UND_ERR_BODY_TIMEOUT");
      const { done, value } = await wrapThrown(() => reader.read(), signal);
      if (done) return;
      idleTimeout.pause();
      yield value;
    }
  } finally {
    cancel();
  }
}

/** Wraps what the caller's code throws, so that it is not mistaken for an error of this package. */
async function wrapThrown<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  try {
    return await raceAbort(work(), signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    throw new TransportFetchError(thrown);
  }
}
