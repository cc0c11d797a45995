import { toRequestError } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { type HttpResponse, iterateStream, readWhole, toStream } from "./transport.ts";

/** A response that is not held in memory. If you do not read it, cancel `body`. */
export interface StreamedResponse {
  readonly body: ReadableStream<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Creates a response to read as a stream of any length, or as a whole of at most `most` bytes. */
export function createStreamedResponse(
  answer: Pick<HttpResponse, "chunks" | "cancel">,
  context: RequestContext,
  most: number,
): StreamedResponse {
  const body = toStream(convertErrors(answer.chunks, context), () => answer.cancel());
  return {
    body,
    async arrayBuffer() {
      try {
        return toArrayBuffer(await readWhole({ chunks: iterateStream(body) }, most));
      } catch (thrown) {
        throw toRequestError(thrown, context);
      }
    },
  };
}

async function* convertErrors(
  chunks: AsyncIterable<Uint8Array>,
  context: RequestContext,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (thrown) {
    throw toRequestError(thrown, context);
  }
}

/** Returns the bytes' buffer; copies the bytes if the buffer is larger. */
function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? buffer : new Uint8Array(bytes).buffer;
}
