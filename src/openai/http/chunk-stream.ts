import { orAborted } from "../../base/abort.ts";

/** Chunks as a stream that asks for one when one is wanted, and keeps none. */
export function streamOf(
  chunks: AsyncIterator<Uint8Array>,
  cancel: () => void,
): ReadableStream<Uint8Array> {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** A stream's chunks. Who stops half way cancels it; so does `signal`, whose reason is thrown. */
export async function* chunksIn(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    while (true) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // it ended, failed or is not wanted: nobody is left to tell
  }
}
