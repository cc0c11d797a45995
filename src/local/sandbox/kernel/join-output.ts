import type { BoundedOutput } from "../bounded-output.ts";

/**
 * Joins stdout and stderr in the order of printing. `order` has the bytes printed to stdout, then to
 * stderr, then to stdout again, and so on. If other processes or descriptors wrote as well, the exact
 * order is unknown: then the stream that was printed to last comes last. Returns `undefined` if one of
 * the streams is empty.
 */
export function joinOutput(
  stdout: BoundedOutput,
  stderr: BoundedOutput,
  order: readonly number[],
): string | undefined {
  const streams = [stdout.toBytes(), stderr.toBytes()] as const;
  if (streams.some(({ length }) => length === 0)) return undefined;
  const isComplete = streams.every(
    ({ length }, stream) => sumEverySecond(order, stream) === length,
  );
  return isComplete ? interleave(streams, order) : joinBlocks(streams, order.length % 2 === 1);
}

type Streams = readonly [stdout: Buffer, stderr: Buffer];

function sumEverySecond(order: readonly number[], first: number): number {
  return order.reduce((sum, size, place) => (place % 2 === first ? sum + size : sum), 0);
}

function interleave(streams: Streams, order: readonly number[]): string {
  const places: [number, number] = [0, 0];
  const parts = order.map((size, place) => {
    const stream = place % 2 === 0 ? 0 : 1;
    const start = places[stream];
    places[stream] += size;
    return streams[stream].subarray(start, start + size);
  });
  return Buffer.concat(parts).toString("utf8");
}

function joinBlocks([stdout, stderr]: Streams, isStdoutLast: boolean): string {
  const [first, last] = isStdoutLast ? [stderr, stdout] : [stdout, stderr];
  const text = first.toString("utf8");
  return `${text}${text.endsWith("\n") ? "" : "\n"}${last.toString("utf8")}`;
}
