import { requestErrorFrom } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { chunksIn, type HttpAnswer, readWhole, streamOf } from "./transport.ts";

/** An answer that is not held here; whoever does not read it cancels `body`. */
export interface StreamedAnswer {
  readonly body: ReadableStream<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** An answer that is read as a stream of any length, or whole if it is not longer than `most`. */
export function streamedAnswer(
  answer: Pick<HttpAnswer, "chunks" | "cancel">,
  context: RequestContext,
  most: number,
): StreamedAnswer {
  const body = streamOf(withOurErrors(answer.chunks, context), () => answer.cancel());
  return {
    body,
    async arrayBuffer() {
      try {
        return memoryOf(await readWhole(chunksIn(body), most));
      } catch (thrown) {
        throw requestErrorFrom(thrown, context);
      }
    },
  };
}

async function* withOurErrors(
  chunks: AsyncIterable<Uint8Array>,
  context: RequestContext,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (thrown) {
    throw requestErrorFrom(thrown, context);
  }
}

/** Only its own: a part of a larger one is copied. */
function memoryOf(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? buffer : new Uint8Array(bytes).buffer;
}
