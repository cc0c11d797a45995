import { expect, test } from "vitest";
import { BoundedOutput } from "../bounded-output.ts";
import { joinOutput } from "./join-output.ts";

function join(stdout: string, stderr: string, order: readonly number[], limit = 1_000) {
  const [out, err] = [new BoundedOutput(limit), new BoundedOutput(limit)];
  out.write(Buffer.from(stdout));
  err.write(Buffer.from(stderr));
  return joinOutput(out, err, order);
}

test("joinOutput() joins both streams in the order of printing", () => {
  expect(join("one\nthree\n", "two\n", [4, 4, 6])).toBe("one\ntwo\nthree\n");
  expect(join("two\n", "one\n", [0, 4, 4])).toBe("one\ntwo\n");
  expect(join("ž", "漢", [2, 3])).toBe("ž漢");
});

test("joinOutput() returns undefined if a stream is empty", () => {
  expect(join("one\n", "", [4])).toBeUndefined();
  expect(join("", "one\n", [0, 4])).toBeUndefined();
});

test("joinOutput() puts the stream last that was printed to last, if other processes wrote too", () => {
  expect(join("one\nsub\nthree", "two", [4, 3, 5])).toBe("two\none\nsub\nthree");
  expect(join("one\n", "two\nsub\n", [4, 4])).toBe("one\ntwo\nsub\n");
  expect(join("one", "two", [])).toBe("one\ntwo");
  expect(join("x".repeat(20), "two", [20, 3], 10)).toBe(`${"x".repeat(10)}\ntwo`);
});
