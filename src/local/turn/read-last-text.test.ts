import { expect, test } from "vitest";
import { readLastText } from "./read-last-text.ts";

test("readLastText() returns the text of the last message that is not the model's", () => {
  const user = { role: "user", content: "One." };
  const parts = [{ type: "input_text", text: "Two" }, { type: "input_image" }, "no part"];
  expect(readLastText([])).toBe("");
  expect(readLastText([user, { role: "assistant", content: "Eins." }, { type: "reasoning" }])).toBe(
    "One.",
  );
  expect(readLastText([user, { role: "system", content: [...parts, { text: "." }] }])).toBe("Two.");
  expect(readLastText([user, { role: "user", content: null }])).toBe("");
});
