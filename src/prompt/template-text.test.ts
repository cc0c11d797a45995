// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a template is text with such placeholders
import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { checkPlaceholders, fillTemplate, readTemplate } from "./template-text.ts";

const filled = (template: string, params: object = {}) =>
  fillTemplate(readTemplate(template, "Template"), params);

const refusal = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("a placeholder", () => {
  test("is a name after a dollar, with or without braces", () => {
    expect(filled("$topic and ${topic}s", { topic: "owl" })).toBe("owl and owls");
  });

  test("takes letters, digits and underscores, and does not start with a digit", () => {
    expect(filled("$_a1-$B_2.", { _a1: "x", B_2: "y" })).toBe("x-y.");
  });

  test("may stand right beside another", () => {
    expect(filled("$a$b${a}", { a: 1, b: 2 })).toBe("121");
  });

  test("is looked for once: what a value says is not read again", () => {
    expect(filled("$a", { a: "$b and $$" })).toBe("$b and $$");
  });

  test("called like a method of every object is a name like any other", () => {
    expect(filled("[$constructor]", {})).toBe("[]");
    expect(filled("[$toString]", { toString: "mine" })).toBe("[mine]");
  });

  test("is known by its name, once", () => {
    expect([...readTemplate("$b $a ${b}", "Template").names]).toEqual(["b", "a"]);
  });
});

describe("a dollar", () => {
  test.each([
    ["$$", "$"],
    ["$$5", "$5"],
    ["$$$$", "$$"],
    ["$$$a", "$1"],
    ["$${a}", "${a}"],
    ["$$a", "$a"],
  ])("written %j is %j", (template, text) => {
    expect(filled(template, { a: 1 })).toBe(text);
  });

  test.each(["$", "5$", "$5", "$ a", "${", "${a", "${}", "${5}", "${a b}", "$$$", "$é"])(
    "alone, as in %j, is refused",
    (template) => {
      const error = refusal(() => readTemplate(template, 'Section "task" template'));
      expect(error).toBeInstanceOf(PromptValidationError);
      expect(error).toMatchObject({
        message: expect.stringMatching(
          /^Section "task" template must have a name after each \$, got .*write \$\$ for a dollar/,
        ),
      });
    },
  );

  test("alone is quoted with what stands around it", () => {
    const long = `${"a".repeat(50)} $ ${"b".repeat(50)}`;
    expect(() => readTemplate(long, "T")).toThrow('near "aaaaaaaaaaa $ bbbbbbbbbb"');
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
    ["text that is empty", "", ""],
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
  ])("that is %s is put in as %j", (_, text, value) => {
    expect(filled("[$value]", { value })).toBe(`[${text}]`);
  });

  test("that is missing leaves its place empty", () => {
    expect(filled("[$value]", {})).toBe("[]");
  });

  test("may be of several lines", () => {
    expect(filled("a\n$lines\nb", { lines: "1\n  2" })).toBe("a\n1\n  2\nb");
  });
});

describe("the text", () => {
  test("loses the blank lines and spaces around it", () => {
    expect(filled("\n\n  a  \n \n")).toBe("a");
  });

  test("is trimmed again once it is filled", () => {
    expect(filled("$a b $a", { a: " \n " })).toBe("b");
  });

  test("loses the indentation its lines share", () => {
    expect(filled("\n    a\n      b\n\n    c\n  ")).toBe("a\n  b\n\nc");
  });

  test("keeps the indentation that some lines have more of", () => {
    expect(filled("\n      a\n    b")).toBe("a\nb");
    expect(filled("\n    b\n      a")).toBe("b\n  a");
  });

  test("keeps the indentation of code below a first line that has none", () => {
    expect(filled("Run:\n\n    npm test")).toBe("Run:\n\n    npm test");
  });

  test("does not take tabs for spaces", () => {
    expect(filled("\n\ta\n\tb")).toBe("a\nb");
    expect(filled("\nx\n\ta\n    b")).toBe("x\n\ta\n    b");
    expect(filled("\n\t a\n\tb")).toBe("a\nb");
  });

  test("keeps nothing of lines that are blank", () => {
    expect(filled("\n    a\n  \n    b")).toBe("a\n\nb");
  });

  test("may be empty", () => {
    expect(filled("")).toBe("");
    expect(filled("  \n ")).toBe("");
  });

  test("keeps the line ends of Windows", () => {
    expect(filled("  a\r\n  b\r\n    c")).toBe("a\r\nb\r\n  c");
  });

  test.each([[undefined], [null], [5], [["a"]]])("is no %j", (template) => {
    expect(() => readTemplate(template as never, "Section template")).toThrow(
      /^Section template must be text, got .*. Use "" for none$/,
    );
  });
});

describe("placeholders without a field", () => {
  const check = (template: string, ...fields: string[]) =>
    checkPlaceholders(readTemplate(template, "T"), new Set(fields), "T");

  test("are refused, the first by the alphabet", () => {
    expect(() => check("$zebra $apple $mango", "mango")).toThrow(
      `T must only name fields of the section's params, got "$apple". There are "mango"; write $$ for a dollar`,
    );
  });

  test("are refused with the field that was meant", () => {
    expect(() => check("$topik", "topic", "words")).toThrow('did you mean "$topic"?');
  });

  test("are refused where there are no fields at all", () => {
    expect(() => check("$topic")).toThrow("the section declares none; write $$ for a dollar");
  });

  test("are the only ones refused", () => {
    expect(check("$a $$b ${c}", "a", "c", "unused")).toBeUndefined();
  });
});
