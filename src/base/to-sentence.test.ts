import { expect, test } from "vitest";
import { toSentence } from "./to-sentence.ts";

test.each([
  ["omit it for no limit", "Omit it for no limit."],
  ["try again", "Try again."],
  ["maxBytes counts bytes", "maxBytes counts bytes."],
  ["z.object({ a: … })", "z.object({ a: … })."],
  ["Pack it again.", "Pack it again."],
  ['did you mean "a"?', 'Did you mean "a"?'],
  ["$ref", "$ref."],
])("toSentence(%j) returns %j", (text, sentence) => {
  expect(toSentence(text)).toBe(sentence);
});
