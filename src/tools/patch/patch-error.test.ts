import { expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import { PatchError } from "./patch-error.ts";

const problem = "has no lines";
const remedy = "give it some";

test("a patch error is one of ours, and its name says so", () => {
  const error = new PatchError({ problem, remedy });
  expect(error).toBeInstanceOf(WinkError);
  expect(error.name).toBe("PatchError");
});

test.each([
  [{}, "Patch: has no lines: give it some"],
  [{ line: 3 }, "Patch, line 3: has no lines: give it some"],
  [{ path: "a.txt" }, 'Patch of "a.txt": has no lines: give it some'],
  [
    { path: "a.txt", hunk: 2, line: 9 },
    'Patch of "a.txt", hunk 2, line 9: has no lines: give it some',
  ],
  [{ path: "", hunk: null, line: null }, 'Patch of "": has no lines: give it some'],
])("of %j the message says where, what and what to do", (place, message) => {
  expect(new PatchError({ ...place, problem, remedy }).message).toBe(message);
});

test("the place can be read from it, null where it is not known", () => {
  const place = { path: "a.txt", hunk: 2, line: 9 };
  expect(new PatchError({ ...place, problem, remedy })).toMatchObject(place);
  const nowhere = { path: null, hunk: null, line: null };
  expect(new PatchError({ problem, remedy })).toMatchObject(nowhere);
});

test("it keeps its cause, if it has one", () => {
  const cause = new Error("disk full");
  expect(new PatchError({ problem, remedy, cause }).cause).toBe(cause);
  expect("cause" in new PatchError({ problem, remedy })).toBe(false);
});

test("a path that would break the line of the message does not", () => {
  expect(new PatchError({ path: "a\nb", problem, remedy }).message).not.toContain("\n");
});
