import { WinkError } from "../base/errors.ts";

/**
 * Limits the body of a response, so that a server cannot fill the memory: in total, or for a stream of events
 * per event. When the limit is exceeded, the body fails and `onExceeded` is called with the problem.
 */
export function limitResponse(
  response: Response,
  maxBytes: number,
  onExceeded: (problem: string) => void,
): Response {
  const { body, status, statusText, headers, url } = response;
  if (body === null || status < 200) return response;
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  const counter = isStream ? countEvent() : countAll();
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (counter(chunk) > maxBytes) {
        const what = isStream ? "an event" : "a response";
        const problem = `It sent ${what} of more than ${maxBytes} bytes.`;
        onExceeded(problem);
        throw new WinkError(problem);
      }
      controller.enqueue(chunk);
    },
  });
  const bounded = new Response(body.pipeThrough(limit), { status, statusText, headers });
  return Object.defineProperty(bounded, "url", { value: url });
}

function countAll(): (chunk: Uint8Array) => number {
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    return total;
  };
}

/** Counts the bytes since the last blank line, which ends an event. */
function countEvent(): (chunk: Uint8Array) => number {
  let open = 0;
  let before: readonly number[] = [];
  return (chunk) => {
    const bytes = [...before, ...chunk.subarray(0, 2)];
    const end = Math.max(findBlankLine(chunk), findBlankLine(bytes) - before.length);
    open = end >= 0 ? chunk.length - end - 1 : open + chunk.length;
    before = [...before, ...chunk.subarray(-2)].slice(-2);
    return open;
  };
}

/** Returns the index of the last line break that ends a blank line, or -1. */
function findBlankLine(bytes: ArrayLike<number>): number {
  for (let index = bytes.length - 1; index > 0; index--) {
    if (bytes[index] !== LF) continue;
    const previous = bytes[index - 1];
    if (previous === LF || (previous === CR && bytes[index - 2] === LF)) return index;
  }
  return -1;
}

const LF = 10;
const CR = 13;
