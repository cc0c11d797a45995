import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Budget, BudgetExceededError, Deadline, DeadlineExceededError } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { bash, endingStage, note, own } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say } from "../support/claude/messages-server.ts";

describe.skipIf(sdkMissing)("An evaluation on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("whose budget a command used up asks and runs nothing more", async () => {
    const stage = await endingStage([
      { content: [say("First."), bash("echo hello")], usage: { input_tokens: 1_000 } },
      { content: [bash("touch again")] },
    ]);
    const error = await stage.failure({ budget: new Budget({ maxTotalTokens: 100 }) });
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error.partial).toMatchObject({ text: "First.", turns: 1 });
    expect(stage.server.requests).toHaveLength(1);
    expect(existsSync(join(stage.section.tempDir, "again"))).toBe(false);
    await stage.expectNothingLeft();
  });

  test("whose deadline passes between two turns asks nothing more", async () => {
    const stage = await endingStage([
      { content: [say("First."), bash("echo hello")] },
      { content: [bash("touch again")] },
    ]);
    const clock = fakeClock();
    stage.bus.subscribe("TurnCompleted", () => void clock.advance(1_000));
    const error = await stage.failure({ deadline: Deadline.after(1_000, clock) });
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error.message).toContain("The deadline passed after 1 turns, in phase tool");
    expect(stage.server.requests).toHaveLength(1);
    await stage.expectNothingLeft();
  });

  test("whose deadline has passed before starts nothing", async () => {
    const stage = await endingStage([{ content: [say("Too late.")] }]);
    const error = await stage.failure({ deadline: Deadline.at(new Date(0)) });
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(stage.bus.of("TurnStarted")).toEqual([]);
    await stage.expectNothingLeft();
  });

  test("that has had all its turns asks nothing more", async () => {
    const stage = await endingStage([
      { content: [own(note)] },
      { content: [own(note)] },
      { content: [bash("touch again")] },
    ]);
    const error = await stage.failure({ maxTurns: 2 });
    expect(error.message).toBe("No answer after 2 turns. Raise maxTurns or use a smaller task.");
    expect(stage.server.requests).toHaveLength(2);
    expect(stage.noted()).toEqual(["before", "by our tool", "by our tool"]);
    await stage.expectNothingLeft();
  });
});
