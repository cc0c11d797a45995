// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a template is text with such placeholders
import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import {
  checkPlaceholders,
  fillTemplate,
  parseSectionText,
  parseTemplate,
} from "./template-text.ts";

const fill = (template: string, params: object = {}) =>
  fillTemplate(parseTemplate(template, "Template"), params);

const catchError = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("a placeholder", () => {
  test("is a name after a dollar sign, with or without braces", () => {
    expect(fill("$topic and ${topic}s", { topic: "owl" })).toBe("owl and owls");
  });

  test("contains letters, digits and underscores, and does not start with a digit", () => {
    expect(fill("$_a1-$B_2.", { _a1: "x", B_2: "y" })).toBe("x-y.");
  });

  test("may directly follow another", () => {
    expect(fill("$a$b${a}", { a: 1, b: 2 })).toBe("121");
  });

  test("is replaced once: a value's own placeholders are not", () => {
    expect(fill("$a", { a: "$b and $$" })).toBe("$b and $$");
  });

  test("may be named like a method of Object.prototype", () => {
    expect(fill("[$constructor]", {})).toBe("[]");
    expect(fill("[$toString]", { toString: "mine" })).toBe("[mine]");
  });

  test("is listed once by name", () => {
    expect([...parseTemplate("$b $a ${b}", "Template").names]).toEqual(["b", "a"]);
  });
});

describe("a dollar sign", () => {
  test.each([
    ["$$", "$"],
    ["$$5", "$5"],
    ["$$$$", "$$"],
    ["$$$a", "$1"],
    ["$${a}", "${a}"],
    ["$$a", "$a"],
  ])("in %j becomes %j", (template, text) => {
    expect(fill(template, { a: 1 })).toBe(text);
  });

  test.each(["$", "5$", "$5", "$ a", "${", "${a", "${}", "${5}", "${a b}", "$$$", "$é"])(
    "alone, as in %j, is rejected",
    (template) => {
      const error = catchError(() => parseTemplate(template, 'Section "task" template'));
      expect(error).toBeInstanceOf(PromptValidationError);
      expect(error).toMatchObject({
        message: expect.stringMatching(
          /^Section "task" template must have a name after each \$, got .*\. Write \$\$ for a dollar sign, near /,
        ),
      });
    },
  );

  test("alone is quoted with the surrounding text", () => {
    const long = `${"a".repeat(50)} $ ${"b".repeat(50)}`;
    expect(() => parseTemplate(long, "T")).toThrow('near "aaaaaaaaaaa $ bbbbbbbbbb"');
  });
});

describe("a value", () => {
  class Money {
    toString() {
      return "five francs";
    }
  }

  test.each([
    ["text", "owl", "owl"],
    ["an empty string", "", ""],
    ["a number", "1.5", 1.5],
    ["zero", "0", 0],
    ["true", "true", true],
    ["false", "false", false],
    ["a bigint", "10", 10n],
    ["null", "", null],
    ["undefined", "", undefined],
    ["a list", '[1,"a"]', [1, "a"]],
    ["an object", '{"b":1,"a":[]}', { b: 1, a: [] }],
    ["an instance", "five francs", new Money()],
    ["a URL", "https://owls.example/", new URL("https://owls.example/")],
  ])("that is %s is inserted as %j", (_, text, value) => {
    expect(fill("[$value]", { value })).toBe(`[${text}]`);
  });

  test("that is missing is inserted as empty text", () => {
    expect(fill("[$value]", {})).toBe("[]");
  });

  test("may have several lines", () => {
    expect(fill("a\n$lines\nb", { lines: "1\n  2" })).toBe("a\n1\n  2\nb");
  });
});

describe("the template text", () => {
  test("is trimmed", () => {
    expect(fill("\n\n  a  \n \n")).toBe("a");
  });

  test("is trimmed again after it is filled", () => {
    expect(fill("$a b $a", { a: " \n " })).toBe("b");
  });

  test("loses the indentation that all lines share", () => {
    expect(fill("\n    a\n      b\n\n    c\n  ")).toBe("a\n  b\n\nc");
  });

  test("keeps additional indentation", () => {
    expect(fill("\n      a\n    b")).toBe("a\nb");
    expect(fill("\n    b\n      a")).toBe("b\n  a");
  });

  test("keeps the indentation of code below an unindented first line", () => {
    expect(fill("Run:\n\n    npm test")).toBe("Run:\n\n    npm test");
  });

  test("does not treat tabs as spaces", () => {
    expect(fill("\n\ta\n\tb")).toBe("a\nb");
    expect(fill("\nx\n\ta\n    b")).toBe("x\n\ta\n    b");
    expect(fill("\n\t a\n\tb")).toBe("a\nb");
  });

  test("has no spaces in blank lines", () => {
    expect(fill("\n    a\n  \n    b")).toBe("a\n\nb");
  });

  test("may be empty", () => {
    expect(fill("")).toBe("");
    expect(fill("  \n ")).toBe("");
  });

  test("keeps CRLF line endings", () => {
    expect(fill("  a\r\n  b\r\n    c")).toBe("a\r\nb\r\n  c");
  });

  test.each([[undefined], [null], [5], [["a"]]])("cannot be %j", (template) => {
    expect(() => parseTemplate(template as never, "Section template")).toThrow(
      /^Section template must be a string, got .*\. Use "" for none\.$/,
    );
  });
});

describe("parseSectionText()", () => {
  const fields = { type: "object", properties: { a: { type: "number" } } };

  test("parses placeholders of a section with params", () => {
    expect(fillTemplate(parseSectionText("$a $$5", fields, "T"), { a: 1 })).toBe("1 $5");
    expect(() => parseSectionText("$5", fields, "T")).toThrow("must have a name after each $");
    expect(() => parseSectionText("$b", fields, "T")).toThrow("must only use placeholders");
  });

  test("keeps dollar signs of a section without params, and only removes the indentation", () => {
    const text = parseSectionText("\n    $a ${a} $$5 $\n      $HOME\n  ", null, "T");
    expect(text.names.size).toBe(0);
    expect(fillTemplate(text, { a: 1 })).toBe("$a ${a} $$5 $\n  $HOME");
  });

  test.each([[undefined], [null], [5]])(
    "rejects the text %j of a section without params",
    (text) => {
      expect(() => parseSectionText(text as never, null, "T")).toThrow("T must be a string");
    },
  );
});

describe("checkPlaceholders()", () => {
  const check = (template: string, ...fields: string[]) =>
    checkPlaceholders(parseTemplate(template, "T"), new Set(fields), "T");

  test("rejects the alphabetically first unknown placeholder", () => {
    expect(() => check("$zebra $apple $mango", "mango")).toThrow(
      `T must only use placeholders of the section's params, got "$apple". Use "mango", or write $$ for a dollar sign`,
    );
  });

  test("suggests the closest field", () => {
    expect(() => check("$topik", "topic", "words")).toThrow('Did you mean "$topic"?');
  });

  test("rejects every placeholder if the params have no fields", () => {
    expect(() => check("$topic")).toThrow(
      "Declare it in the section's params, or write $$ for a dollar sign",
    );
  });

  test("accepts declared placeholders", () => {
    expect(check("$a $$b ${c}", "a", "c", "unused")).toBeUndefined();
  });
});
