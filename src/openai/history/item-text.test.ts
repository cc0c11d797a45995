import { describe, expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import type { WireItem } from "../wire.ts";
import { ItemText, itemJson } from "./item-text.ts";

const written = (text: ItemText, rest = '{"model":"m"}') =>
  new TextDecoder().decode(text.request(rest));

function textOf(...items: readonly string[]): ItemText {
  const text = new ItemText();
  for (const item of items) text.add(item);
  return text;
}

describe("the text of items", () => {
  test("is a whole request, also without any", () => {
    expect(written(textOf())).toBe('{"input":[],"model":"m"}');
    expect(written(textOf("1", "[2]"), '{"a":1,"b":2}')).toBe('{"input":[1,[2]],"a":1,"b":2}');
  });

  test("goes on where the items ended, whatever a request wrote behind them", () => {
    const text = textOf("1");
    expect(written(text, `{"instructions":"${"long ".repeat(2_000)}"}`)).toContain("long long");
    text.add("2");
    expect(written(text)).toBe('{"input":[1,2],"model":"m"}');
    expect(written(text)).toBe('{"input":[1,2],"model":"m"}');
  });

  test.each([
    ["ASCII", "a"],
    ["two bytes a letter", "ż"],
    ["three bytes a letter", "語"],
    ["four bytes a letter", "🐢"],
  ])("holds megabytes of %s", (_name, letter) => {
    const long = JSON.stringify(letter.repeat(1_000_003));
    const text = textOf("1", long, "2");
    expect(written(text)).toBe(`{"input":[1,${long},2],"model":"m"}`);
  });

  test("holds ten megabytes at once, and half characters as escapes", () => {
    const text = textOf(itemJson({ text: "x".repeat(10_000_000) }), itemJson({ text: "\ud800!" }));
    expect(text.request("{}").length).toBeGreaterThan(10_000_000);
    expect(written(text)).toContain('{"text":"\\ud800!"}');
  });

  test("takes items over from another, and parts from it", () => {
    const whole = textOf("1", '"ż"', "3", "4");
    const some = whole.prefix(1);
    some.take(whole, 3);
    some.take(whole, 1);
    whole.add("5");
    expect(written(some)).toBe('{"input":[1,4,"ż"],"model":"m"}');
    const late = new ItemText();
    late.take(whole, 2);
    late.take(whole, 0);
    expect(written(late)).toBe('{"input":[3,1],"model":"m"}');
    expect(written(whole)).toBe('{"input":[1,"ż",3,4,5],"model":"m"}');
    expect(written(whole.prefix(0))).toBe('{"input":[],"model":"m"}');
  });

  test("takes over what is longer than there is room for", () => {
    const long = JSON.stringify("語".repeat(9_000));
    const text = textOf("1");
    text.take(textOf("0", long), 1);
    expect(written(text)).toBe(`{"input":[1,${long}],"model":"m"}`);
    expect(written(text.prefix(2))).toBe(written(text));
  });
});

describe("an item that is no JSON is refused,", () => {
  const remedy = "keep items to JSON that is nested at most 1000 levels deep";

  test("if it is nested too deeply", () => {
    const item = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
    expect(() => itemJson({ type: "mcp_call", item })).toThrow(
      new WinkError(
        `An item of the type "mcp_call" cannot be sent, its value is nested more than 1000 levels deep: ${remedy}`,
      ),
    );
  });

  test("if it contains itself", () => {
    const item: Record<string, unknown> = { type: "mcp_call" };
    item["self"] = item;
    expect(() => itemJson(item)).toThrow(
      new WinkError(
        `An item of the type "mcp_call" cannot be sent, its value.self contains itself: ${remedy}`,
      ),
    );
  });

  test("if it has no JSON at all", () => {
    expect(() => itemJson({ toJSON: () => undefined })).toThrow(
      /^An item of the type undefined cannot be sent, its value.toJSON is the function toJSON: /,
    );
    const nothing = undefined as unknown as WireItem;
    expect(() => itemJson(nothing)).toThrow(/cannot be sent, its value is undefined: /);
  });

  test("if the engine will not have it, for the engine's reason", () => {
    class Unwilling {
      toJSON(): never {
        throw new RangeError("Invalid string length");
      }
    }
    const cause = new RangeError("Invalid string length");
    const item = Object.assign(Object.create(null), { type: "x" });
    Object.defineProperty(item, "toJSON", { value: new Unwilling().toJSON });
    expect(() => itemJson(item)).toThrow(
      new WinkError(`An item of the type "x" cannot be sent, Invalid string length: ${remedy}`, {
        cause,
      }),
    );
  });
});
