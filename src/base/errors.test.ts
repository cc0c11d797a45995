import { describe, expect, test } from "vitest";
import {
  InvalidOptionError,
  messageOf,
  OutputParseError,
  PromptRenderError,
  PromptValidationError,
  WinkError,
} from "./errors.ts";

const refusal = {
  field: "Tool.name",
  value: "Add Two",
  rule: "must be lower case",
  remedy: 'write "add_two"',
};

describe("a refusal", () => {
  test("says the field, the rule, the value and the remedy, in this order", () => {
    const error = new InvalidOptionError(refusal);
    expect(error.message).toBe('Tool.name must be lower case, got "Add Two". Write "add_two"');
    expect(error).toMatchObject({
      name: "InvalidOptionError",
      field: "Tool.name",
      value: "Add Two",
    });
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toBeInstanceOf(Error);
  });

  test("keeps its cause, and has none where none was", () => {
    const cause = new Error("deeper");
    expect(new InvalidOptionError({ ...refusal, cause }).cause).toBe(cause);
    expect("cause" in new InvalidOptionError(refusal)).toBe(false);
  });

  test("of a secret neither quotes nor keeps it", () => {
    const error = new InvalidOptionError({ ...refusal, value: "sk-hush", secret: true });
    expect(error.message).toContain("got a secret that does not: ");
    expect(error.value).toBeUndefined();
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain("hush");
  });

  test("of a prompt is one kind of refused option", () => {
    const error = new PromptValidationError(refusal);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.name).toBe("PromptValidationError");
  });
});

describe("a factory of refusals", () => {
  test("prefixes the names of fields with its scope", () => {
    const refuse = InvalidOptionError.at("Tool");
    const error = refuse("name", "Add Two", "must be lower case", 'write "add_two"');
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toBe(new InvalidOptionError(refusal).message);
    expect(error).toMatchObject({
      field: "Tool.name",
      value: "Add Two",
      remedy: 'write "add_two"',
    });
    expect("cause" in error).toBe(false);
  });

  test("uses the scope alone for an empty name, and the name alone for an empty scope", () => {
    expect(InvalidOptionError.at("Tool")("", 1, "must be text", "quote it").field).toBe("Tool");
    expect(InvalidOptionError.at("")("port", 1, "must be text", "quote it").field).toBe("port");
  });

  test("may compute the field from the name", () => {
    const refuse = InvalidOptionError.at((name) => `evaluate(${name})`);
    const error = refuse("maxTurns", 0, "must be a whole number from 1", "leave it out for 50");
    expect(error.message).toBe(
      "evaluate(maxTurns) must be a whole number from 1, got 0. Leave it out for 50",
    );
  });

  test("creates errors of the class that it comes from", () => {
    const error = PromptValidationError.at("Tool")("name", 1, "must be text", "quote it");
    expect(error).toBeInstanceOf(PromptValidationError);
    expect(error.name).toBe("PromptValidationError");
    expect(error.renamed("myTool.name")).toBeInstanceOf(PromptValidationError);
  });

  test("passes on a cause, and does not quote a secret", () => {
    const cause = new Error("deeper");
    const refuse = InvalidOptionError.at("client");
    const error = refuse("apiKey", "sk-hush", "must be one line", "trim it", {
      cause,
      secret: true,
    });
    expect(error).toMatchObject({ cause, value: undefined, field: "client.apiKey" });
    expect(error.message).not.toContain("hush");
  });
});

test("an error without a name of its own is a WinkError", () => {
  const cause = new Error("deeper");
  expect(new WinkError("no", { cause })).toMatchObject({ name: "WinkError", message: "no", cause });
});

test("a failed rendering names the section by its path, and keeps its cause", () => {
  const cause = new Error("deeper");
  const error = new PromptRenderError("guide.intro", "$topic is not bound", cause);
  expect(error.message).toBe('Section "guide.intro": $topic is not bound');
  expect(error).toMatchObject({ name: "PromptRenderError", sectionPath: "guide.intro", cause });
  expect("cause" in new PromptRenderError("guide", "no")).toBe(false);
});

test("an answer that cannot be read is kept as it was written", () => {
  const error = new OutputParseError("It is no JSON", "Sure! {");
  expect(error).toMatchObject({
    name: "OutputParseError",
    text: "Sure! {",
    message: "It is no JSON",
  });
});

test("what a thrown value says is an error's message, or the value itself", () => {
  expect(messageOf(new TypeError("no"))).toBe("no");
  expect(messageOf("plain text")).toBe('"plain text"');
  expect(messageOf(undefined)).toBe("undefined");
});
