import { describe, expect, test } from "vitest";
import { parseOperations } from "./patch-operation.ts";

const parse = (operations: unknown): unknown =>
  Reflect.apply(parseOperations, undefined, [operations]);
const matchError = (facts: object) => expect.objectContaining({ name: "PatchError", ...facts });

test("parseOperations() parses bare diffs like a patch", () => {
  const changes = parseOperations([
    { type: "create", path: "hello.txt", diff: "+hello world\n" },
    { type: "create", path: "empty.txt", diff: "" },
    { type: "update", path: "lib/fib.py", diff: "@@\n-def fib(n):\n+def fibonacci(n):\n" },
    { type: "update", path: "a", diff: "-x\n+y", moveTo: "b" },
    { type: "update", path: "c", diff: "", moveTo: "d" },
    { type: "delete", path: "obsolete.txt" },
  ]);
  expect(changes).toMatchObject([
    { type: "create", path: "hello.txt", line: null, text: "hello world\n" },
    { type: "create", path: "empty.txt", text: "" },
    {
      type: "update",
      path: "lib/fib.py",
      moveTo: null,
      hunks: [
        {
          lines: [
            { kind: "remove", number: 2 },
            { kind: "add", number: 3 },
          ],
        },
      ],
    },
    { type: "update", moveTo: "b", hunks: [{}] },
    { type: "update", moveTo: "d", hunks: [] },
    { type: "delete", path: "obsolete.txt", line: null },
  ]);
});

describe("parseOperations() rejects", () => {
  test.each([undefined, null, 3, {}])("%j instead of an array", (operations) => {
    expect(() => parse(operations)).toThrow("Pass a string or an array of operations");
  });

  test("an empty array", () => {
    expect(() => parse([])).toThrow(matchError({ path: null, hunk: null, line: null }));
    expect(() => parse([])).toThrow("the patch has no operations");
  });

  test.each([
    [null, null, "the operation is null"],
    ["*** Begin Patch", null, 'the operation is "*** Begin Patch"'],
    [{ type: "delete" }, null, "undefined as its path"],
    [{ type: "create_file", path: "a", diff: "" }, "a", '"create_file" as its type'],
    [{ path: "a" }, "a", "undefined as its type"],
    [{ type: "create", path: "a" }, "a", "undefined as its diff"],
    [{ type: "update", path: "a", diff: 3 }, "a", "3 as its diff"],
    [{ type: "update", path: "a", diff: "", moveTo: 3 }, "a", "3 as moveTo"],
    [{ type: "delete", path: "a", moveTo: "b" }, "a", '"b" as moveTo'],
  ])("the operation %j", (operation, path, message) => {
    expect(() => parse([operation])).toThrow(matchError({ path }));
    expect(() => parse([operation])).toThrow(message);
  });

  test.each([
    [{ type: "update", path: "a", diff: "" }, null, null],
    [{ type: "update", path: "a", diff: "@@\nx" }, 1, 2],
    [{ type: "create", path: "a", diff: "x" }, null, 1],
    [{ type: "create", path: "a", diff: "@@\n+x" }, null, 1],
    [{ type: "create", path: "a", diff: "+\ud800" }, null, 1],
    [{ type: "update", path: "a", diff: "*** Move to: b\n-x" }, 1, 1],
  ])("the unparsable diff of %j", (operation, hunk, line) => {
    expect(() => parse([operation])).toThrow(matchError({ path: "a", hunk, line }));
  });
});
