import { describe, expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import type { WireItem } from "../wire.ts";
import { ItemBytes, serializeItem } from "./item-bytes.ts";

const toText = (text: ItemBytes, rest = '{"model":"m"}') =>
  new TextDecoder().decode(text.toRequest(rest));

function createItemBytes(...items: readonly string[]): ItemBytes {
  const text = new ItemBytes();
  for (const item of items) text.add(item);
  return text;
}

describe("ItemBytes", () => {
  test("forms a complete request, also without items", () => {
    expect(toText(createItemBytes())).toBe('{"input":[],"model":"m"}');
    expect(toText(createItemBytes("1", "[2]"), '{"a":1,"b":2}')).toBe(
      '{"input":[1,[2]],"a":1,"b":2}',
    );
  });

  test("appends after the last item once a request was written", () => {
    const text = createItemBytes("1");
    expect(toText(text, `{"instructions":"${"long ".repeat(2_000)}"}`)).toContain("long long");
    text.add("2");
    expect(toText(text)).toBe('{"input":[1,2],"model":"m"}');
    expect(toText(text)).toBe('{"input":[1,2],"model":"m"}');
  });

  test.each([
    ["ASCII", "a"],
    ["two bytes per character", "ż"],
    ["three bytes per character", "語"],
    ["four bytes per character", "🐢"],
  ])("stores megabytes of %s", (_name, letter) => {
    const long = JSON.stringify(letter.repeat(1_000_003));
    const text = createItemBytes("1", long, "2");
    expect(toText(text)).toBe(`{"input":[1,${long},2],"model":"m"}`);
  });

  test("stores ten megabytes at once, and lone surrogates as escapes", () => {
    const text = createItemBytes(
      serializeItem({ text: "x".repeat(10_000_000) }),
      serializeItem({ text: "\ud800!" }),
    );
    expect(text.toRequest("{}").length).toBeGreaterThan(10_000_000);
    expect(toText(text)).toContain('{"text":"\\ud800!"}');
  });

  test("copies items from another buffer and stays independent of it", () => {
    const whole = createItemBytes("1", '"ż"', "3", "4");
    const some = whole.copyPrefix(1);
    some.copyItem(whole, 3);
    some.copyItem(whole, 1);
    whole.add("5");
    expect(toText(some)).toBe('{"input":[1,4,"ż"],"model":"m"}');
    const late = new ItemBytes();
    late.copyItem(whole, 2);
    late.copyItem(whole, 0);
    expect(toText(late)).toBe('{"input":[3,1],"model":"m"}');
    expect(toText(whole)).toBe('{"input":[1,"ż",3,4,5],"model":"m"}');
    expect(toText(whole.copyPrefix(0))).toBe('{"input":[],"model":"m"}');
  });

  test("copies an item that is larger than the free space", () => {
    const long = JSON.stringify("語".repeat(9_000));
    const text = createItemBytes("1");
    text.copyItem(createItemBytes("0", long), 1);
    expect(toText(text)).toBe(`{"input":[1,${long}],"model":"m"}`);
    expect(toText(text.copyPrefix(2))).toBe(toText(text));
  });
});

describe("serializeItem()", () => {
  const remedy = "Use only JSON values, nested at most 1000 levels deep.";

  test("rejects an item that is nested too deeply", () => {
    const item = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
    expect(() => serializeItem({ type: "mcp_call", item })).toThrow(
      new WinkError(
        `An item of type "mcp_call" cannot be serialized: its value is nested more than 1000 levels deep. ${remedy}`,
      ),
    );
  });

  test("rejects an item that contains itself", () => {
    const item: Record<string, unknown> = { type: "mcp_call" };
    item["self"] = item;
    expect(() => serializeItem(item)).toThrow(
      new WinkError(
        `An item of type "mcp_call" cannot be serialized: its value.self contains itself. ${remedy}`,
      ),
    );
  });

  test("rejects an item that has no JSON form", () => {
    expect(() => serializeItem({ toJSON: () => undefined })).toThrow(
      /^An item of type undefined cannot be serialized: its value.toJSON is the function toJSON\. /,
    );
    const nothing = undefined as unknown as WireItem;
    expect(() => serializeItem(nothing)).toThrow(/cannot be serialized: its value is undefined\. /);
  });

  test("rejects an item that the engine cannot serialize, with the engine's error as cause", () => {
    class Unserializable {
      toJSON(): never {
        throw new RangeError("Invalid string length");
      }
    }
    const cause = new RangeError("Invalid string length");
    const item = Object.assign(Object.create(null), { type: "x" });
    Object.defineProperty(item, "toJSON", { value: new Unserializable().toJSON });
    expect(() => serializeItem(item)).toThrow(
      new WinkError(`An item of type "x" cannot be serialized: Invalid string length. ${remedy}`, {
        cause,
      }),
    );
  });
});
