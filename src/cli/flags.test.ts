import { expect, test } from "vitest";
import { InvalidOptionError, WinkError } from "../base/errors.ts";
import { inFlags, inMountFlags } from "./flags.ts";

function refused(field: string): InvalidOptionError {
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
])("a refusal of %j begins with %j", (field, begin) => {
  expect(inFlags(refused(field))).toMatchObject({ message: `${begin}, got "x". Write y` });
});

test("a host that others reach asks for a key in the words of the command line", () => {
  expect(inFlags(refused("listen(host)"))).toMatchObject({
    message:
      '--host must be this machine, unless a key is asked for, got "x". Set WINK_API_KEY or give --api-key, or leave --host out',
  });
});

test("what is no refusal stays what it is", () => {
  const error = new Error("a bug");
  expect(inFlags(error)).toBe(error);
});

test.each([
  ['mounts[0] "maxBytes" is over its maxBytes', 'PATH "maxBytes" is over its --max-bytes'],
  ["mounts[0].includeGlob[3] must be a text", "--include must be a text"],
  ['name "excludeGlob/*" in excludeGlob', 'name "excludeGlob/*" in --exclude'],
  ["The workspace is full", "The workspace is full"],
])("a mount's failure %j reads %j, and names of files stay", (before, after) => {
  expect(inMountFlags(new WinkError(before))).toMatchObject({ name: "WinkError", message: after });
});

test("what is no failure of a mount stays what it is", () => {
  const error = new Error("mounts[0]");
  expect(inMountFlags(error)).toBe(error);
});
