import { describe, expect, test } from "vitest";
import { readRecord, readRecords, readString, type UnknownRecord } from "../../base/json.ts";
import { createRepeatPromptHooks } from "./split-hook-output.ts";

/** Calls the hooks for a session start and joins their texts. */
async function callHooks(hooks: UnknownRecord, source: string): Promise<string> {
  const [matcher] = readRecords(hooks, "SessionStart");
  const run = (matcher?.["hooks"] ?? []) as readonly ((
    input: UnknownRecord,
  ) => Promise<UnknownRecord>)[];
  const outcomes = await Promise.all(run.map((hook) => hook({ source })));
  const outputs = outcomes.map((outcome) => readRecord(outcome, "hookSpecificOutput"));
  const texts = outputs.map((output) => readString(output, "additionalContext"));
  return texts.filter((text) => text !== "").join("\n");
}

describe("createRepeatPromptHooks()", () => {
  test("repeats the prompt after a compaction, but not at startup or resume", async () => {
    const hooks = createRepeatPromptHooks(() => "Count owls.");
    expect(await callHooks(hooks, "startup")).toBe("");
    expect(await callHooks(hooks, "compact")).toBe("Count owls.");
    expect(await callHooks(hooks, "resume")).toBe("");
  });

  test("repeats the current prompt, even if it has become longer", async () => {
    let prompt = "Count owls.";
    const hooks = createRepeatPromptHooks(() => prompt);
    prompt = "Count bats.\n".repeat(5_000);
    expect(await callHooks(hooks, "compact")).toBe(prompt);
  });
});
