import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import { checkInput, isTextPart, joinInputText } from "./input.ts";

describe("checkInput()", () => {
  test("returns text as one part", () => {
    expect(checkInput("Hello")).toEqual([{ type: "text", text: "Hello" }]);
  });

  test("returns frozen copies of parts, in order", () => {
    const text = { type: "text", text: "Read this." } as const;
    const parts = checkInput([text, { path: "a.pdf" }]);
    expect(parts).toMatchObject([text, { path: "a.pdf" }]);
    expect(parts[0]).not.toBe(text);
    expect([parts, ...parts].every(Object.isFrozen)).toBe(true);
  });

  test.each([
    ["empty text", "", 'evaluate(input).text must be text that is not empty, got "". Pass text,'],
    ["no parts", [], "evaluate(input) must be text or an array of parts, got []. Pass text,"],
    ["null", null, "evaluate(input) must be text or an array of parts, got null"],
    ["a number", 7, "evaluate(input) must be text or an array of parts, got 7"],
    [
      "a part that is not in an array",
      { type: "text", text: "Hi" },
      "evaluate(input) must be text or an array of parts, got {",
    ],
    [
      "a part without text",
      [{ type: "text" }],
      "evaluate(input)[0].text must be text that is not empty, got undefined",
    ],
    [
      "a part with empty text",
      [
        { type: "text", text: "Hi" },
        { type: "text", text: "" },
      ],
      'evaluate(input)[1].text must be text that is not empty, got ""',
    ],
    [
      "a part of another type",
      [{ type: "image", text: "Hi" }],
      'evaluate(input)[0].type must be "text", got "image"',
    ],
    [
      "a part with an unknown key",
      [{ type: "text", text: "Hi", role: "user" }],
      'evaluate(input)[0] key must be one of "type", "text", got "role"',
    ],
    ["a part that is text", ["Hi"], "evaluate(input)[0] must be"],
    ["a part of null", [null], "evaluate(input)[0] must be"],
  ])("rejects %s", (_, input, message) => {
    const check = () => checkInput(input as never);
    expect(check).toThrow(InvalidOptionError);
    expect(check).toThrow(message);
  });
});

test("isTextPart() tells text from attachments", () => {
  expect(checkInput([{ type: "text", text: "Hi" }, { path: "a.pdf" }]).map(isTextPart)).toEqual([
    true,
    false,
  ]);
});

describe("joinInputText()", () => {
  test("joins the texts of an input and leaves out attachments", () => {
    const parts = checkInput([
      { type: "text", text: "One." },
      { path: "a.pdf" },
      { type: "text", text: "Two." },
    ]);
    expect(joinInputText(parts)).toBe("One.\n\nTwo.");
  });

  test("returns null for an input without text", () => {
    expect(joinInputText([])).toBeNull();
    expect(joinInputText(checkInput([{ path: "a.pdf" }]))).toBeNull();
  });
});
