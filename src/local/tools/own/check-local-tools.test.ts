import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../../base/errors.ts";
import { LocalProvider } from "../../provider.ts";
import { createItemsValidator } from "../../responses/check/items.ts";
import { createToolValidator } from "../../responses/check/tools.ts";
import { builtInCatalog } from "../index.ts";
import type { LocalTool } from "../local-tool.ts";

const run = () => ({});
const dice: LocalTool = { kind: "dice", items: { dice_call: {} }, run };
const schema = { type: "object", properties: {} };

function getRejection(...tools: readonly unknown[]): InvalidOptionError {
  try {
    new LocalProvider({ tools: tools as readonly LocalTool[] });
  } catch (error) {
    if (error instanceof InvalidOptionError) return error;
    throw error;
  }
  throw new Error("The tools were accepted.");
}

describe("The tools option", () => {
  test("accepts kind, items and run alone, as a plain object or a class instance", () => {
    class Coin {
      readonly kind = "coin";
      readonly items = { coin_call: {} };
      readonly #sides = 2;
      run() {
        return { sides: this.#sides };
      }
    }
    expect(() => new LocalProvider({ tools: [dice, new Coin()] })).not.toThrow();
  });

  test("must be an array", () => {
    expect(() => new LocalProvider({ tools: dice as never })).toThrow(
      "LocalProvider.tools must be an array of LocalTools",
    );
  });

  test.each<readonly [field: string, rule: string, tool: unknown]>([
    ["", "must be an object", null],
    ["", "must be an object", [dice]],
    [" key", 'must be a known option, got "item". Did you mean "items"?', { ...dice, item: {} }],
    [" key", 'must be one of "kind", "aliases", "items"', { ...dice, colour: {} }],
    [".kind", "must be 1-64 of a-z, 0-9, _ and -", { ...dice, kind: undefined }],
    [".kind", "must be 1-64 of a-z, 0-9, _ and -", { ...dice, kind: "" }],
    [".kind", "must be 1-64 of a-z, 0-9, _ and -", { ...dice, kind: "Dice" }],
    [".kind", "must be 1-64 of a-z, 0-9, _ and -", { ...dice, kind: "a dice" }],
    [".kind", "must be 1-64 of a-z, 0-9, _ and -", { ...dice, kind: "d".repeat(65) }],
    [".kind", "must not be a name of the API itself", { ...dice, kind: "function" }],
    [".kind", "must not be a name of the API itself", { ...dice, kind: "custom" }],
    [".kind", "must not be a name of the API itself", { ...dice, kind: "message" }],
    [".kind", "must not be a name of the API itself", { ...dice, kind: "allowed_tools" }],
    [
      ".kind",
      "a name of the built-in tool code_interpreter",
      { ...dice, kind: "code_interpreter" },
    ],
    [".kind", "a name of the built-in tool computer", { ...dice, kind: "computer_use" }],
    [".aliases", "must be an array", { ...dice, aliases: "die" }],
    [".aliases[1]", "must be 1-64", { ...dice, aliases: ["die", "DIE"] }],
    [".aliases[0]", "a name of LocalProvider.tools[0].kind", { ...dice, aliases: ["dice"] }],
    [".aliases[0]", "the built-in tool web_search", { ...dice, aliases: ["web_search_preview"] }],
    [".run", "must be a function", { kind: "dice", items: { dice_call: {} } }],
    [".run", "must be a function", { ...dice, run: "4" }],
    [".check", "must be a function", { ...dice, check: {} }],
    [".checkChoice", "must be a function", { ...dice, checkChoice: true }],
    [".containerField", "must be a non-blank string", { ...dice, containerField: " " }],
    [".items", "must contain at least one item type", { kind: "dice", run }],
    [".items", "must contain at least one item type", { ...dice, items: {} }],
    [".items", "must contain at least one item type", { ...dice, items: ["dice_call"] }],
    [".items.Dice", "must be 1-64 of a-z, 0-9, _ and -", { ...dice, items: { Dice: {} } }],
    [".items.message", "the API itself", { ...dice, items: { message: {} } }],
    [".items.mcp_call", "the built-in tool mcp", { ...dice, items: { mcp_call: {} } }],
    [".items.dice_call", "must be an object", { ...dice, items: { dice_call: true } }],
    [
      ".items.dice_call key",
      'Did you mean "events"?',
      { ...dice, items: { dice_call: { event: 1 } } },
    ],
    [".items.a.events", "must be a function", { ...dice, items: { a: { events: [] } } }],
    [".items.a.answer", "must be another item type", { ...dice, items: { a: { answer: "b" } } }],
    [
      ".items.a.answer",
      'item type of the tool: "b"',
      { ...dice, items: { a: { answer: "a" }, b: {} } },
    ],
    [
      ".items.a.needsAnswer",
      "must be combined with answer",
      { ...dice, items: { a: { needsAnswer: run } } },
    ],
    [
      ".items.a.containerAt",
      "must be an array of keys",
      { ...dice, items: { a: { containerAt: [] } } },
    ],
    [".items.a.containerAt[0]", "non-blank", { ...dice, items: { a: { containerAt: [7] } } }],
    [".items.a.includes", "must be an object", { ...dice, items: { a: { includes: [] } } }],
    [".items.a.includes", 'start with "a."', { ...dice, items: { a: { includes: { x: run } } } }],
    [
      '.items.a.includes["a.b"]',
      "a function",
      { ...dice, items: { a: { includes: { "a.b": 1 } } } },
    ],
    [".parameters", "must be combined with description", { ...dice, description: "Rolls." }],
    [".description", "must be combined with parameters", { ...dice, parameters: schema }],
    [".description", "non-blank", { ...dice, description: "", parameters: schema }],
    [".parameters", 'of type "object"', { ...dice, description: "Rolls.", parameters: {} }],
    [
      ".parameters",
      "must",
      { ...dice, description: "Rolls.", parameters: { type: "object", required: "sides" } },
    ],
    [".functions", "must be an array", { ...dice, functions: {} }],
    [
      ".functions",
      "cannot be combined with description and parameters",
      { ...dice, description: "Rolls.", parameters: schema, functions: [] },
    ],
    [".functions[0]", "must be an object", { ...dice, functions: ["roll"] }],
    [
      ".functions[0].name",
      "a name of the built-in tool code_interpreter",
      { ...dice, functions: [{ name: "python", description: "Rolls.", parameters: schema }] },
    ],
    [
      ".functions[0].read",
      "must be a function",
      {
        ...dice,
        functions: [{ name: "roll", description: "Rolls.", parameters: schema, read: 1 }],
      },
    ],
  ])("is rejected at %j, which %s", (field, rule, tool) => {
    const error = getRejection(tool);
    expect(error.field).toBe(`LocalProvider.tools[0]${field}`);
    expect(error.message).toContain(rule);
    expect(error.remedy).not.toBe("");
  });

  test("rejects a shared kind, item type or function", () => {
    const other = { ...dice, kind: "coin", items: { coin_call: {} } };
    const offered = { description: "Rolls.", parameters: schema };
    const first = "a name of LocalProvider.tools[0].kind";
    expect(getRejection(dice, { ...other, kind: "dice" }).message).toContain(first);
    expect(getRejection(dice, { ...other, aliases: ["dice"] }).message).toContain(first);
    expect(getRejection(dice, { ...other, items: dice.items }).message).toContain(first);
    const named = { ...other, functions: [{ name: "dice", ...offered }] };
    expect(getRejection({ ...dice, ...offered }, named)).toMatchObject({
      field: "LocalProvider.tools[1].functions[0].name",
    });
  });

  test("rejects every item type and tool type of the API", () => {
    const names = (problem: { readonly message: string } | null) =>
      [...(problem?.message ?? "").matchAll(/'(\w+)'/g)].map(([, name = ""]) => name).slice(1);
    const tool = createToolValidator(builtInCatalog);
    const items = createItemsValidator(builtInCatalog, tool);
    const itemTypes = names(items([{ type: "unknown" }], "input"));
    const toolTypes = names(tool({ type: "unknown" }, "tools[0]"));
    expect([itemTypes.length, toolTypes.length]).toEqual([31, 18]);
    for (const type of itemTypes)
      expect(getRejection({ ...dice, items: { [type]: {} } }).message).toContain(
        "must not be a name of",
      );
    for (const kind of toolTypes)
      expect(getRejection({ ...dice, kind }).message).toContain("must not be a name of");
  });
});
