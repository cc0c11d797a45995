import { describe, expect, test } from "vitest";
import { PromptValidationError } from "./errors.ts";
import { checkDescription, checkKey, checkLine, checkToolName } from "./names.ts";

describe("a tool's name", () => {
  test.each(["a", "search", "web-search", "web_search", "9lives", "-", "_", "a".repeat(64)])(
    "may be %j",
    (name) => {
      expect(checkToolName(name, "Tool.name")).toBe(name);
    },
  );

  test.each([
    ["empty", "", "my_tool"],
    ["blank", "   ", "my_tool"],
    ["one with spaces around", " add ", "add"],
    ["one with a space", "add two", "add_two"],
    ["upper case", "Add", "add"],
    ["65 characters", "a".repeat(65), "a".repeat(64)],
    ["one with an illegal character", "add.two!", "add_two"],
    ["one that is not ASCII", "größe", "gr_e"],
    ["one that ends in a newline", "add\n", "add"],
    ["undefined", undefined, "my_tool"],
    ["a number", 5, "my_tool"],
    ["an object without a prototype", Object.create(null), "my_tool"],
    ["a list that reads like one", ["add"], "my_tool"],
  ])("cannot be %s, and the error offers one that can", (_what, name, offered) => {
    expect(() => checkToolName(name as never, "Tool.name")).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "Tool.name",
        value: name,
        message: expect.stringMatching(
          new RegExp(
            `^Tool.name must be 1-64 of a-z, 0-9, _ and -, .*: write it like "${offered}"$`,
          ),
        ),
      }),
    );
    expect(checkToolName(offered, "Tool.name")).toBe(offered);
  });
});

describe("a description", () => {
  test.each(["x", "Adds two numbers.", "~".repeat(200)])("may be %j", (text) => {
    expect(checkDescription(text, "Tool.description")).toBe(text);
  });

  test.each([
    ["empty", ""],
    ["blank", "   "],
    ["201 characters", "x".repeat(201)],
    ["not ASCII", "Fügt hinzu."],
    ["two lines", "one\ntwo"],
    ["a line with its end", "one\n"],
    ["one with a tab", "one\ttwo"],
    ["undefined", undefined],
    ["a number", 5],
  ])("cannot be %s", (_what, text) => {
    expect(() => checkDescription(text as never, "Tool.description")).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "Tool.description",
        value: text,
        message: expect.stringMatching(
          /must be 1-200 printable ASCII characters on one line, .*: say in one plain sentence/,
        ),
      }),
    );
  });
});

describe("a key", () => {
  test.each(["a", "9", "guide.intro", "a-b_c", "a".repeat(64)])("may be %j", (key) => {
    expect(checkKey(key, "Section.key")).toBe(key);
  });

  test.each([
    ["", "my_tool"],
    [".hidden", "hidden"],
    ["-a", "a"],
    ["Intro", "intro"],
    ["a b", "a_b"],
    ["a".repeat(65), "a".repeat(64)],
    [null, "my_tool"],
    [Symbol("a"), "my_tool"],
  ])("cannot be %o, and the error offers %j", (key, offered) => {
    expect(() => checkKey(key as never, "Section.key")).toThrow(
      expect.objectContaining({ field: "Section.key", value: key }),
    );
    expect(() => checkKey(key as never, "Section.key")).toThrow(`: write it like "${offered}"`);
    expect(checkKey(offered, "Section.key")).toBe(offered);
  });
});

describe("a line", () => {
  test.each(["x", " Größe ", "x".repeat(1000)])("may be %j", (text) => {
    expect(checkLine(text, "Section.title")).toBe(text);
  });

  test.each(["", " \t", "a\nb", "a\r", undefined, 5])("cannot be %j", (text) => {
    const check = () => checkLine(text as never, "Section.title");
    expect(check).toThrow(PromptValidationError);
    expect(check).toThrow(
      /^Section.title must be one line that is not blank, .*: give it a few words$/,
    );
  });
});
