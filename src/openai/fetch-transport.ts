import { orAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { type HttpRequest, TimedOut, type Transport } from "./transport.ts";

/** Over a `fetch`: of the runtime's, or of the caller's, which may not look at signals. */
export function fetchTransport(fetch: typeof globalThis.fetch, clock: Clock): Transport {
  return async (request) => {
    const silence = listen(request.timeoutMs, clock);
    const signal = request.signal
      ? AbortSignal.any([request.signal, silence.signal])
      : silence.signal;
    try {
      const sent = fetch(request.url, {
        method: request.method,
        headers: request.headers,
        body: bodyOf(request),
        redirect: "manual",
        signal,
      });
      const response = await orAborted(sent, signal);
      silence.heard("UND_ERR_BODY_TIMEOUT");
      return {
        // Browsers hide the status of a redirect that they do not follow.
        status: response.type === "opaqueredirect" ? 302 : response.status,
        header: (name) => response.headers.get(name),
        chunks: chunksOf(response, silence, signal),
      };
    } catch (error) {
      silence.stop();
      throw error;
    }
  };
}

function bodyOf({ body }: HttpRequest): BodyInit | null {
  if (body === null || typeof body === "string") return body;
  if (body instanceof Uint8Array) return new Uint8Array(body); // the type of its memory is known
  const form = new FormData();
  for (const [name, value] of body) form.append(name, value);
  return form;
}

async function* chunksOf(
  response: Response,
  silence: Silence,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  try {
    while (reader) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      silence.heard("UND_ERR_BODY_TIMEOUT");
      yield value;
    }
  } finally {
    silence.stop();
    // Whether it was read, cut off or given up: the connection is free again, and that is all.
    reader?.cancel().catch(() => {});
  }
}

interface Silence {
  /** Aborts with `TimedOut` when nothing was heard for too long. */
  readonly signal: AbortSignal;
  /** Something was; the next silence would be of this kind. */
  heard(next: TimedOut["code"]): void;
  stop(): void;
}

function listen(timeoutMs: number, clock: Clock): Silence {
  const silence = new AbortController();
  const over = new AbortController();
  let code: TimedOut["code"] = "UND_ERR_HEADERS_TIMEOUT";
  let last = clock.now();
  const watch = async () => {
    let left = timeoutMs;
    while (left > 0) {
      await clock.sleep(left, over.signal);
      left = last + timeoutMs - clock.now();
    }
    silence.abort(new TimedOut(code));
  };
  watch().catch(() => {}); // it was stopped
  return {
    signal: silence.signal,
    heard(next) {
      code = next;
      last = clock.now();
    },
    stop: () => over.abort(),
  };
}
