import { describe, expect, test } from "vitest";
import {
  getErrorMessage,
  InvalidOptionError,
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

describe("InvalidOptionError", () => {
  test("composes its message from the field, rule, value and remedy, in this order", () => {
    const error = new InvalidOptionError(refusal);
    expect(error.message).toBe('Tool.name must be lower case, got "Add Two". Write "add_two".');
    expect(error).toMatchObject({
      name: "InvalidOptionError",
      field: "Tool.name",
      value: "Add Two",
    });
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toBeInstanceOf(Error);
  });

  test("has the given cause, and no cause property without one", () => {
    const cause = new Error("deeper");
    expect(new InvalidOptionError({ ...refusal, cause }).cause).toBe(cause);
    expect("cause" in new InvalidOptionError(refusal)).toBe(false);
  });

  test("neither quotes nor stores a secret value", () => {
    const error = new InvalidOptionError({ ...refusal, value: "sk-hush", secret: true });
    expect(error.message).toBe(
      'Tool.name must be lower case, got a secret (not shown). Write "add_two".',
    );
    expect(error.value).toBeUndefined();
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain("hush");
  });

  test("is the base class of PromptValidationError", () => {
    const error = new PromptValidationError(refusal);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.name).toBe("PromptValidationError");
  });
});

describe("InvalidOptionError.at()", () => {
  test("prefixes field names with the scope", () => {
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
    expect(InvalidOptionError.at("Tool")("", 1, "must be a string", "quote it").field).toBe("Tool");
    expect(InvalidOptionError.at("")("port", 1, "must be a string", "quote it").field).toBe("port");
  });

  test("accepts a function that computes the field from the name", () => {
    const refuse = InvalidOptionError.at((name) => `evaluate(${name})`);
    const error = refuse("maxTurns", 0, "must be a positive integer", "omit it for 50");
    expect(error.message).toBe(
      "evaluate(maxTurns) must be a positive integer, got 0. Omit it for 50.",
    );
  });

  test("creates errors of the class it is called on", () => {
    const error = PromptValidationError.at("Tool")("name", 1, "must be a string", "quote it");
    expect(error).toBeInstanceOf(PromptValidationError);
    expect(error.name).toBe("PromptValidationError");
    expect(error.withField("myTool.name")).toBeInstanceOf(PromptValidationError);
  });

  test("passes on a cause and does not quote a secret", () => {
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

test("WinkError is the default error name", () => {
  const cause = new Error("deeper");
  expect(new WinkError("no", { cause })).toMatchObject({ name: "WinkError", message: "no", cause });
});

test("PromptRenderError names the section by its path and has the given cause", () => {
  const cause = new Error("deeper");
  const error = new PromptRenderError("guide.intro", "$topic is not bound", cause);
  expect(error.message).toBe('Section "guide.intro": $topic is not bound');
  expect(error).toMatchObject({ name: "PromptRenderError", sectionPath: "guide.intro", cause });
  expect("cause" in new PromptRenderError("guide", "no")).toBe(false);
});

test("OutputParseError retains the model's answer unmodified", () => {
  const error = new OutputParseError("The answer is not JSON", "Sure! {");
  expect(error).toMatchObject({
    name: "OutputParseError",
    text: "Sure! {",
    message: "The answer is not JSON",
  });
});

test("getErrorMessage() returns an error's message, and quotes any other value", () => {
  expect(getErrorMessage(new TypeError("no"))).toBe("no");
  expect(getErrorMessage("plain text")).toBe('"plain text"');
  expect(getErrorMessage(undefined)).toBe("undefined");
});
