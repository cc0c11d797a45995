import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/reading.ts";
import { recordAt, recordsAt, textAt } from "../../base/reading.ts";
import { repeatPromptHooks } from "./split-hook-output.ts";

/** What the hooks say together when a session starts. */
async function said(hooks: UnknownRecord, source: string): Promise<string> {
  const [matcher] = recordsAt(hooks, "SessionStart");
  const run = (matcher?.["hooks"] ?? []) as readonly ((
    input: UnknownRecord,
  ) => Promise<UnknownRecord>)[];
  const outcomes = await Promise.all(run.map((hook) => hook({ source })));
  const outputs = outcomes.map((outcome) => recordAt(outcome, "hookSpecificOutput"));
  const texts = outputs.map((output) => textAt(output, "additionalContext"));
  return texts.filter((text) => text !== "").join("\n");
}

describe("a prompt is read again", () => {
  test("once the conversation was made shorter, and not when it begins or goes on", async () => {
    const hooks = repeatPromptHooks(() => "Count owls.");
    expect(await said(hooks, "startup")).toBe("");
    expect(await said(hooks, "compact")).toBe("The instructions read:\n\nCount owls.");
    expect(await said(hooks, "resume")).toBe("");
  });

  test("as it reads by then, also if it is longer", async () => {
    let prompt = "Count owls.";
    const hooks = repeatPromptHooks(() => prompt);
    prompt = "Count bats.\n".repeat(5_000);
    expect(await said(hooks, "compact")).toBe(`The instructions read:\n\n${prompt}`);
  });
});
