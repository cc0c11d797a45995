import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { PipedInput } from "./piped-input.ts";

const SHORT_MS = 20;

test.each([
  [["{", '"a":1}'], '{"a":1}'],
  [[], ""],
  [["", "é"], "é"],
])("reads %j to the end", async (chunks, text) => {
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  using input = new PipedInput(stream, { isExpected: false });
  expect(await input.read()).toBe(text);
});

test("reads nothing from a terminal, and leaves it open", async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  const input = new PipedInput(stream, { isExpected: false });
  expect(await input.read()).toBe("");
  input[Symbol.dispose]();
  expect(stream.destroyed).toBe(false);
});

test("gives up on an open pipe that sends nothing, and closes it", async () => {
  const stream = new PassThrough();
  const input = new PipedInput(stream, { isExpected: false, waitMs: SHORT_MS });
  expect(await input.read()).toBeNull();
  input[Symbol.dispose]();
  expect(stream.destroyed).toBe(true);
});

test("waits for the end of a pipe that has sent something", async () => {
  const stream = new PassThrough();
  using input = new PipedInput(stream, { isExpected: false, waitMs: SHORT_MS });
  stream.write("{");
  const reading = input.read();
  setTimeout(() => stream.end("}"), 3 * SHORT_MS);
  expect(await reading).toBe("{}");
});

test("waits for an expected input without a limit, also on a terminal", async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  using input = new PipedInput(stream, { isExpected: true, waitMs: SHORT_MS });
  setTimeout(() => stream.end("{}"), 3 * SHORT_MS);
  expect(await input.read()).toBe("{}");
});

test("reports an input that cannot be read", async () => {
  const stream = new Readable({ read: () => {} });
  using input = new PipedInput(stream, { isExpected: false });
  stream.destroy(new Error("EISDIR: illegal operation on a directory, read"));
  await expect(input.read()).rejects.toThrow(
    "standard input must be readable (EISDIR: illegal operation on a directory, read), got",
  );
});

test("refuses an input that is larger than 64 MiB", async () => {
  const piece = Buffer.alloc(8 * 1024 * 1024);
  const stream = Readable.from(Array(9).fill(piece));
  using input = new PipedInput(stream, { isExpected: false });
  await expect(input.read()).rejects.toThrow(
    "standard input must be readable (at most 67108864 bytes), got",
  );
});
