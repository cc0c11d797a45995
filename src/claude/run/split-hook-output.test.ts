import { describe, expect, test } from "vitest";
import { readRecord, readString, type UnknownRecord } from "../../base/json.ts";
import { countParts, splitHookOutput } from "./split-hook-output.ts";

/** Calls the hooks for one event and returns the text of each. */
async function callHooks(
  hooks: readonly ((input: UnknownRecord) => Promise<UnknownRecord>)[],
  input: UnknownRecord = {},
): Promise<readonly string[]> {
  const outcomes = await Promise.all(hooks.map((hook) => hook(input)));
  return outcomes.map((one) =>
    readString(readRecord(one, "hookSpecificOutput"), "additionalContext"),
  );
}

describe("splitHookOutput()", () => {
  test("returns a short text in the first hook, and no output for an empty text", async () => {
    const hooks = splitHookOutput("PostToolBatch", 3, (input) => readString(input, "note"));
    expect(await callHooks(hooks, { note: "Owls." })).toEqual(["Owls.", "", ""]);
    expect(await Promise.all(hooks.map((hook) => hook({})))).toEqual([{}, {}, {}]);
  });

  test("writes the text once per event, regardless of which hook is called first", async () => {
    let count = 0;
    const hooks = splitHookOutput("PostToolBatch", 2, async () => {
      count += 1;
      return `${"a".repeat(9_000)}\n${count}`;
    });
    expect(await callHooks(hooks)).toEqual(["a".repeat(9_000), "1"]);
    expect(await callHooks(hooks.toReversed())).toEqual(["2", "a".repeat(9_000)]);
    expect(await callHooks(hooks)).toEqual(["a".repeat(9_000), "3"]);
  });

  test("splits between lines, and splits a line that is too long", async () => {
    const lines = Array.from({ length: 2_000 }, (_, line) => `Line ${line}.`).join("\n");
    const text = `${lines}\n${"x".repeat(25_000)}\nEnd.`;
    const parts = await callHooks(splitHookOutput("SessionStart", countParts(text), () => text));
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(9_000);
    expect(parts.join("\n").replace(/x\n(?=x)/g, "x")).toBe(text);
    expect(parts.every((part) => part.endsWith(".") || /^x+$/.test(part))).toBe(true);
  });

  test("returns all remaining text in the last hook if there are too few hooks", async () => {
    const text = "Count owls.\n".repeat(5_000);
    expect((await callHooks(splitHookOutput("SessionStart", 2, () => text))).join("\n")).toBe(text);
  });
});
