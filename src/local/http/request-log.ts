import type { Clock } from "../../base/clock.ts";
import { type RequestEntry, readAnswer, toEntryPath } from "./request-entry.ts";

/** Options of a {@link RequestLog}. */
export interface RequestLogOptions {
  readonly clock: Clock;
  /** Receives each entry when its response is complete. */
  readonly onRequest: (entry: RequestEntry) => void;
  /** Called with errors that `onRequest` throws. */
  readonly onFault: (error: unknown) => void;
}

/** A request that is being answered. */
export interface OpenRequest {
  /** Adds what the client is sent: tokens and errors are read from it. */
  addAnswer(answer: object): void;
  /** Reports the request. Only the first call does. */
  end(ending: Pick<RequestEntry, "status" | "isStream" | "outcome">): void;
}

type RequestHandler = (request: Request) => Response | Promise<Response>;

/** Reports every request when its response is complete. It exists only if someone listens. */
export class RequestLog {
  readonly #options: RequestLogOptions;
  readonly #open = new WeakMap<Request, OpenRequest>();

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  /** Starts the entry of a request or of a turn over a WebSocket. */
  start(method: string, url: string): OpenRequest {
    const { clock, onRequest, onFault } = this.#options;
    const started = clock.now();
    let parts: Pick<RequestEntry, "usage" | "error"> = { usage: null, error: null };
    let isReported = false;
    return {
      addAnswer(answer) {
        parts = { ...parts, ...readAnswer(answer) };
      },
      end(ending) {
        if (isReported) return;
        isReported = true;
        const elapsedMs = Math.max(0, Math.round(clock.now() - started));
        try {
          onRequest({ method, path: toEntryPath(url), elapsedMs, ...ending, ...parts });
        } catch (error) {
          onFault(error);
        }
      },
    };
  }

  /** Adds what a route sends for a request. */
  addAnswer(request: Request, answer: object): void {
    this.#open.get(request)?.addAnswer(answer);
  }

  /** Handles a request and reports it when its response is complete. */
  async observe(request: Request, handle: RequestHandler): Promise<Response> {
    const open = this.start(request.method, request.url);
    this.#open.set(request, open);
    const isAborted = () => request.signal.aborted;
    try {
      const response = await handle(request);
      const { status } = response;
      if (status === UPGRADE_REQUIRED) return response; // a WebSocket handshake: its turns are reported
      if (isEventStream(response) && response.body)
        return observeStream(response, response.body, { open, isAborted });
      open.end({ status, isStream: false, outcome: isAborted() ? "aborted" : "complete" });
      return response;
    } catch (error) {
      const outcome = isAborted() ? "aborted" : "dropped";
      open.end({ status: null, isStream: false, outcome });
      throw error;
    }
  }
}

const UPGRADE_REQUIRED = 426;

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** Returns the response with a body that ends the entry when it ends. It buffers nothing. */
function observeStream(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array>,
  { open, isAborted }: { readonly open: OpenRequest; readonly isAborted: () => boolean },
): Response {
  const end = (outcome: RequestEntry["outcome"]) => open.end({ status, isStream: true, outcome });
  const reader = body.getReader();
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end("complete");
        controller.close();
      } catch (error) {
        end(isAborted() ? "aborted" : "dropped");
        controller.error(error);
      }
    },
    async cancel(reason) {
      end("aborted");
      await reader.cancel(reason);
    },
  };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), { status, headers });
}
