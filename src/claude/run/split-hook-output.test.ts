import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/reading.ts";
import { recordAt, textAt } from "../../base/reading.ts";
import { countParts, splitHookOutput } from "./split-hook-output.ts";

/** What the hooks say of one event, each. */
async function said(
  hooks: readonly ((input: UnknownRecord) => Promise<UnknownRecord>)[],
  input: UnknownRecord = {},
): Promise<readonly string[]> {
  const outcomes = await Promise.all(hooks.map((hook) => hook(input)));
  return outcomes.map((one) => textAt(recordAt(one, "hookSpecificOutput"), "additionalContext"));
}

describe("hooks that say a text in parts", () => {
  test("leave what is short to the first, and say nothing where there is nothing", async () => {
    const hooks = splitHookOutput("PostToolBatch", 3, (input) => textAt(input, "note"));
    expect(await said(hooks, { note: "Owls." })).toEqual(["Owls.", "", ""]);
    expect(await Promise.all(hooks.map((hook) => hook({})))).toEqual([{}, {}, {}]);
  });

  test("ask for the text once an event, whichever of them is called first", async () => {
    let asked = 0;
    const hooks = splitHookOutput("PostToolBatch", 2, async () => {
      asked += 1;
      return `${"a".repeat(9_000)}\n${asked}`;
    });
    expect(await said(hooks)).toEqual(["a".repeat(9_000), "1"]);
    expect(await said(hooks.toReversed())).toEqual(["2", "a".repeat(9_000)]);
    expect(await said(hooks)).toEqual(["a".repeat(9_000), "3"]);
  });

  test("keep to whole lines, and cut a line that is too long", async () => {
    const lines = Array.from({ length: 2_000 }, (_, line) => `Line ${line}.`).join("\n");
    const text = `${lines}\n${"x".repeat(25_000)}\nEnd.`;
    const parts = await said(splitHookOutput("SessionStart", countParts(text), () => text));
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(9_000);
    expect(parts.join("\n").replace(/x\n(?=x)/g, "x")).toBe(text);
    expect(parts.every((part) => part.endsWith(".") || /^x+$/.test(part))).toBe(true);
  });

  test("lose nothing where they are too few: the last says all that is left", async () => {
    const text = "Count owls.\n".repeat(5_000);
    expect((await said(splitHookOutput("SessionStart", 2, () => text))).join("\n")).toBe(text);
  });
});
