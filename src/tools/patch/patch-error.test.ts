import { expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import { PatchError } from "./patch-error.ts";

const problem = "the hunk has no lines";
const remedy = "add some";

test("PatchError is a WinkError with its own name", () => {
  const error = new PatchError({ problem, remedy });
  expect(error).toBeInstanceOf(WinkError);
  expect(error.name).toBe("PatchError");
});

test.each([
  [{}, "Patch: the hunk has no lines. Add some."],
  [{ line: 3 }, "Patch, line 3: the hunk has no lines. Add some."],
  [{ path: "a.txt" }, 'Patch of "a.txt": the hunk has no lines. Add some.'],
  [
    { path: "a.txt", hunk: 2, line: 9 },
    'Patch of "a.txt", hunk 2, line 9: the hunk has no lines. Add some.',
  ],
  [{ path: "", hunk: null, line: null }, 'Patch of "": the hunk has no lines. Add some.'],
])("PatchError's message for %j has the place, the problem and the remedy", (place, message) => {
  expect(new PatchError({ ...place, problem, remedy }).message).toBe(message);
});

test("PatchError exposes the place, with null for unknown parts", () => {
  const place = { path: "a.txt", hunk: 2, line: 9 };
  expect(new PatchError({ ...place, problem, remedy })).toMatchObject(place);
  const nowhere = { path: null, hunk: null, line: null };
  expect(new PatchError({ problem, remedy })).toMatchObject(nowhere);
});

test("PatchError keeps its cause", () => {
  const cause = new Error("disk full");
  expect(new PatchError({ problem, remedy, cause }).cause).toBe(cause);
  expect("cause" in new PatchError({ problem, remedy })).toBe(false);
});

test("PatchError escapes a path with line breaks", () => {
  expect(new PatchError({ path: "a\nb", problem, remedy }).message).not.toContain("\n");
});
