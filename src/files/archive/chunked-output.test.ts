import { expect, test } from "vitest";
import { ChunkedOutput } from "./chunked-output.ts";

const SIZE = 256 * 1024;

function collect(write: (output: ChunkedOutput) => void): Buffer[] {
  const chunks: Buffer[] = [];
  const output = new ChunkedOutput((chunk) => chunks.push(Buffer.from(chunk)));
  write(output);
  output.finish();
  return chunks;
}

test("ChunkedOutput emits no chunk for empty input", () => {
  expect(collect(() => {})).toEqual([]);
  expect(collect((output) => output.write(new Uint8Array()))).toEqual([]);
});

test("ChunkedOutput emits chunks of equal size, except the last one", () => {
  const bytes = Buffer.alloc(SIZE * 2 + 3, "abcdefg");
  const chunks = collect((output) => {
    output.write(bytes.subarray(0, 5));
    output.write(bytes.subarray(5));
  });
  expect(chunks.map(({ length }) => length)).toEqual([SIZE, SIZE, 3]);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
});

test("ChunkedOutput emits a full chunk immediately, and only once", () => {
  expect(collect((output) => output.skip(SIZE))).toHaveLength(1);
});

test("ChunkedOutput writes zeros for skipped bytes and retains filled ones", () => {
  const chunks = collect((output) => {
    output.write(Buffer.alloc(SIZE - 2, 1));
    output.getFreeSpace().set([7]);
    output.skip(SIZE + 4);
  });
  const all = Buffer.concat(chunks);
  expect(all.length).toBe(SIZE * 2 + 2);
  expect([...all.subarray(SIZE - 3, SIZE + 1)]).toEqual([1, 7, 0, 0]);
  expect(all.subarray(SIZE).every((byte) => byte === 0)).toBe(true);
});

test("ChunkedOutput clears a reused chunk", () => {
  const seen: [Uint8Array, Buffer][] = [];
  const emit = (chunk: Uint8Array) => void seen.push([chunk, Buffer.from(chunk)]);
  const output = new ChunkedOutput(emit, { reusesChunk: true });
  output.write(Buffer.alloc(SIZE, 1));
  output.write(Buffer.alloc(3, 2));
  output.skip(SIZE);
  output.finish();
  const [first, second, last] = seen;
  expect(new Set(seen.map(([{ buffer }]) => buffer)).size).toBe(1);
  expect(first?.[1].every((byte) => byte === 1)).toBe(true);
  expect([...(second?.[1].subarray(0, 5) ?? [])]).toEqual([2, 2, 2, 0, 0]);
  expect([...(last?.[1] ?? [])]).toEqual([0, 0, 0]);
});
