import { expect, test } from "vitest";
import { InvalidOptionError, WinkError } from "../base/errors.ts";
import { toFlagError, toMountFlagError } from "./to-flag-error.ts";

function createError(field: string): InvalidOptionError {
  return new InvalidOptionError({ field, value: "x", rule: "must be y", remedy: "write y" });
}

test.each([
  ["listen(port)", "--port must be y"],
  ["dataDir", "--data-dir must be y"],
  ["sandbox", "--sandbox must be y"],
  ["web", "--web must be y"],
  ["LocalProvider.apiKey", "--api-key must be y"],
  ["upstreamModel.baseURL", "--upstream must be y"],
  ["upstreamModel.model", "--upstream-model must be y"],
  ["a field of its own", "a field of its own must be y"],
])("toFlagError() renames %j to %j", (field, begin) => {
  expect(toFlagError(createError(field))).toMatchObject({ message: `${begin}, got "x". Write y.` });
});

test("toFlagError() requires an API key for a non-loopback host", () => {
  expect(toFlagError(createError("listen(host)"))).toMatchObject({
    message:
      '--host must be a loopback address unless an API key is set, got "x". Set WINK_API_KEY, pass --api-key, or omit --host.',
  });
});

test("toFlagError() returns other errors unchanged", () => {
  const error = new Error("a bug");
  expect(toFlagError(error)).toBe(error);
});

test.each([
  ['mounts[0] "maxBytes" is over its maxBytes', 'PATH "maxBytes" is over its --max-bytes'],
  ["mounts[0].includeGlob[3] must be a text", "--include must be a text"],
  ['name "excludeGlob/*" in excludeGlob', 'name "excludeGlob/*" in --exclude'],
  ["The workspace is full", "The workspace is full"],
])("toMountFlagError() rewrites %j as %j and keeps file names", (before, after) => {
  expect(toMountFlagError(new WinkError(before))).toMatchObject({
    name: "WinkError",
    message: after,
  });
});

test("toMountFlagError() returns other errors unchanged", () => {
  const error = new Error("mounts[0]");
  expect(toMountFlagError(error)).toBe(error);
});
