import type { Clock } from "../../base/clock.ts";
import { orAborted } from "../../base/clock.ts";
import { writtenForm } from "./multipart.ts";
import { listen, type Silence } from "./silence.ts";
import { isForm, isNode, type Multipart, streamOf, type Transport } from "./transport.ts";

/** Over a `fetch`: of the runtime's, or of the caller's, which may not look at signals. */
export function fetchTransport(fetch: typeof globalThis.fetch, clock: Clock): Transport {
  return async (request) => {
    const silence = listen(request.timeoutMs, clock);
    const signal = request.signal
      ? AbortSignal.any([request.signal, silence.signal])
      : silence.signal;
    try {
      const { method, body } = request;
      const content = isForm(body) ? formContent(body, fetch, silence) : plainContent(body);
      const headers = { ...request.headers, ...content.headers };
      const sent = fetch(request.url, { method, signal, ...content, headers });
      const response = await orAborted(sent, signal);
      silence.rests();
      const reader = response.body?.getReader();
      const cancel = () => {
        silence.stop();
        // Whether it was read, cut off or given up: the connection is free again, and that is all.
        reader?.cancel().catch(() => {});
      };
      return {
        // Browsers hide the status of a redirect that they do not follow.
        status: response.type === "opaqueredirect" ? 302 : response.status,
        header: (name) => response.headers.get(name),
        chunks: chunksOf(reader, { silence, signal, cancel }),
        cancel,
      };
    } catch (error) {
      silence.stop();
      throw error;
    }
  };
}

/** What of a request depends on its body. */
interface Content {
  readonly body: BodyInit | null;
  readonly redirect: RequestRedirect;
  readonly headers?: Readonly<Record<string, string>>;
  readonly duplex?: "half";
}

function plainContent(body: string | Uint8Array | null): Content {
  const isBytes = body instanceof Uint8Array;
  return { body: isBytes ? new Uint8Array(body) : body, redirect: "manual" }; // of known memory
}

/**
 * Node's `fetch` keeps all that it has sent, unless a redirect is an error. Its own takes a stream,
 * so that what was sent is heard; another may not, and how it sends its files is its own matter.
 */
function formContent(form: Multipart, fetch: typeof globalThis.fetch, silence: Silence): Content {
  const redirect = "error";
  if (!isNode() || fetch !== globalThis.fetch) {
    const fields = new FormData();
    for (const [name, value] of form) fields.append(name, value);
    return { body: fields, redirect };
  }
  const { contentType, length, pieces } = writtenForm(form);
  const small = inSmallPieces(pieces(), silence);
  return {
    body: streamOf(small, () => void small.return(undefined)),
    redirect,
    headers: { "content-type": contentType, "content-length": String(length) },
    duplex: "half",
  };
}

/** Each leaves a little garbage: so the collector comes before the file's own piles up. */
const SMALL = 8 * 1024;

async function* inSmallPieces(
  pieces: AsyncIterable<Uint8Array>,
  silence: Silence,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SMALL) {
      silence.waits("UND_ERR_HEADERS_TIMEOUT");
      yield piece.subarray(at, at + SMALL);
    }
  }
}

interface Reading {
  readonly silence: Silence;
  readonly signal: AbortSignal;
  cancel(): void;
}

async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  { silence, signal, cancel }: Reading,
): AsyncGenerator<Uint8Array> {
  try {
    while (reader) {
      silence.waits("UND_ERR_BODY_TIMEOUT");
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      silence.rests();
      yield value;
    }
  } finally {
    cancel();
  }
}
