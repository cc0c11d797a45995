import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Budget, BudgetExceededError, Deadline, DeadlineExceededError } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { createEndingFixture, noteTool, useBash, useTool } from "../support/claude/exit-fixture.ts";
import { textBlock } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

describe.skipIf(sdkMissing)("An evaluation on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("sends no further requests after a command has used up the budget", async () => {
    const fixture = await createEndingFixture([
      { content: [textBlock("First."), useBash("echo hello")], usage: { input_tokens: 1_000 } },
      { content: [useBash("touch again")] },
    ]);
    const error = await fixture.runToError({ budget: new Budget({ maxTotalTokens: 100 }) });
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error.partial).toMatchObject({ text: "First.", turns: 1 });
    expect(fixture.server.requests).toHaveLength(1);
    expect(existsSync(join(fixture.section.tempDir, "again"))).toBe(false);
    await fixture.expectNothingLeft();
  });

  test("sends no further requests if the deadline passes between two turns", async () => {
    const fixture = await createEndingFixture([
      { content: [textBlock("First."), useBash("echo hello")] },
      { content: [useBash("touch again")] },
    ]);
    const clock = fakeClock();
    fixture.bus.subscribe("TurnCompleted", () => void clock.advance(1_000));
    const error = await fixture.runToError({ deadline: Deadline.after(1_000, clock) });
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error.message).toContain("The deadline passed after 1 turns, in phase tool");
    expect(fixture.server.requests).toHaveLength(1);
    await fixture.expectNothingLeft();
  });

  test("starts nothing if the deadline has already passed", async () => {
    const fixture = await createEndingFixture([{ content: [textBlock("Too late.")] }]);
    const error = await fixture.runToError({ deadline: Deadline.at(new Date(0)) });
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(fixture.bus.of("TurnStarted")).toEqual([]);
    await fixture.expectNothingLeft();
  });

  test("sends no further requests after maxTurns", async () => {
    const fixture = await createEndingFixture([
      { content: [useTool(noteTool)] },
      { content: [useTool(noteTool)] },
      { content: [useBash("touch again")] },
    ]);
    const error = await fixture.runToError({ maxTurns: 2 });
    expect(error.message).toBe("No answer after 2 turns. Raise maxTurns or use a smaller task.");
    expect(fixture.server.requests).toHaveLength(2);
    expect(fixture.readNotes()).toEqual(["before", "by our tool", "by our tool"]);
    await fixture.expectNothingLeft();
  });
});
