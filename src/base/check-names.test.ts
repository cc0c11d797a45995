import { describe, expect, test } from "vitest";
import {
  checkDescription,
  checkHostedDescription,
  checkHostedName,
  checkKey,
  checkLine,
  checkToolName,
} from "./check-names.ts";
import { PromptValidationError } from "./errors.ts";

/** Names that neither a tool nor a hosted tool may have, with the name that the error suggests. */
const invalidNames: readonly (readonly [string, unknown, string])[] = [
  ["empty", "", "my_tool"],
  ["blank", "   ", "my_tool"],
  ["one with spaces around", " add ", "add"],
  ["one with a space", "add two", "add_two"],
  ["65 characters", "a".repeat(65), "a".repeat(64)],
  ["one with an illegal character", "add.two!", "add_two"],
  ["one that is not ASCII", "größe", "gr_e"],
  ["one that ends in a newline", "add\n", "add"],
  ["undefined", undefined, "my_tool"],
  ["a number", 5, "my_tool"],
  ["an object without a prototype", Object.create(null), "my_tool"],
  ["an array that converts to a valid name", ["add"], "my_tool"],
];

describe("checkToolName()", () => {
  test.each([
    "a",
    "search",
    "web-search",
    "web_search",
    "9lives",
    "-",
    "_",
    "a".repeat(64),
    "Add",
    "getWeather",
    "Read_File-2",
    "Z".repeat(64),
  ])("accepts %j", (name) => {
    expect(checkToolName(name, "Tool.name")).toBe(name);
  });

  test.each([
    ...invalidNames,
    ["upper case with a space", "Get Weather", "Get_Weather"],
    ["a full-width letter", "ＡＢ", "my_tool"],
    ["the Kelvin sign", "\u212A", "my_tool"],
  ] as const)("rejects %s and suggests a valid name", (_what, name, offered) => {
    expect(() => checkToolName(name as never, "Tool.name")).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "Tool.name",
        value: name,
        message: expect.stringMatching(
          new RegExp(
            `^Tool.name must be 1-64 of A-Z, a-z, 0-9, _ and -, got .*\\. Write it like "${offered}"\\.$`,
          ),
        ),
      }),
    );
    expect(checkToolName(offered, "Tool.name")).toBe(offered);
  });
});

describe("checkHostedName()", () => {
  test.each(["a", "web-search", "web_search", "9lives", "-", "_", "a".repeat(64)])(
    "accepts %j",
    (name) => {
      expect(checkHostedName(name, "HostedTool.name")).toBe(name);
    },
  );

  test.each([...invalidNames, ["upper case", "Add", "add"]] as const)(
    "rejects %s and suggests a valid name",
    (_what, name, offered) => {
      expect(() => checkHostedName(name as never, "HostedTool.name")).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: "HostedTool.name",
          value: name,
          message: expect.stringMatching(
            new RegExp(
              `^HostedTool.name must be 1-64 of a-z, 0-9, _ and -, got .*\\. Write it like "${offered}"\\.$`,
            ),
          ),
        }),
      );
      expect(checkHostedName(offered, "HostedTool.name")).toBe(offered);
    },
  );
});

describe("checkDescription()", () => {
  test.each([
    "x",
    "Adds two numbers.",
    "~".repeat(4096),
    "Fügt hinzu.",
    "Adds.\n\nUse it for:\n\t- sums\r\n\t- totals",
    "🌱".repeat(2048),
  ])("accepts %j", (text) => {
    expect(checkDescription(text, "Tool.description")).toBe(text);
  });

  test.each([
    ["empty", ""],
    ["blank", "   "],
    ["blank lines", "\n\t\r\n"],
    ["4,097 characters", "x".repeat(4097)],
    ["more than 4,096 UTF-16 units", `x${"🌱".repeat(2048)}`],
    ["half of a surrogate pair", "Adds \ud83c."],
    ["undefined", undefined],
    ["a number", 5],
    ["an array that converts to text", ["Adds."]],
  ])("rejects %s", (_what, text) => {
    expect(() => checkDescription(text as never, "Tool.description")).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "Tool.description",
        value: text,
        message: expect.stringMatching(
          /must be text of 1-4,096 characters that is not blank, got .*\. Say what it does and when to use it\.$/,
        ),
      }),
    );
  });
});

describe("checkHostedDescription()", () => {
  test.each(["x", "Adds two numbers.", "~".repeat(200)])("accepts %j", (text) => {
    expect(checkHostedDescription(text, "HostedTool.description")).toBe(text);
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
  ])("rejects %s", (_what, text) => {
    expect(() => checkHostedDescription(text as never, "HostedTool.description")).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "HostedTool.description",
        value: text,
        message: expect.stringMatching(
          /must be 1-200 printable ASCII characters on one line, got .*\. Say in one plain sentence what it does\.$/,
        ),
      }),
    );
  });
});

describe("checkKey()", () => {
  test.each(["a", "9", "guide.intro", "a-b_c", "a".repeat(64)])("accepts %j", (key) => {
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
  ])("rejects %o and suggests %j", (key, offered) => {
    expect(() => checkKey(key as never, "Section.key")).toThrow(
      expect.objectContaining({ field: "Section.key", value: key }),
    );
    expect(() => checkKey(key as never, "Section.key")).toThrow(`. Write it like "${offered}".`);
    expect(checkKey(offered, "Section.key")).toBe(offered);
  });
});

describe("checkLine()", () => {
  test.each(["x", " Größe ", "x".repeat(1000)])("accepts %j", (text) => {
    expect(checkLine(text, "Section.title")).toBe(text);
  });

  test.each(["", " \t", "a\nb", "a\r", undefined, 5])("rejects %j", (text) => {
    const check = () => checkLine(text as never, "Section.title");
    expect(check).toThrow(PromptValidationError);
    expect(check).toThrow(
      /^Section.title must be one line that is not blank, got .*\. Use a few words\.$/,
    );
  });
});
