import { describe, expect, test } from "vitest";
import {
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Tool,
  ToolResult,
} from "weakincentives";
import { bash, type EndingStage, endingStage, note, own } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";

const WORDS =
  "The Claude Agent SDK ended before it answered (Claude Code process terminated by signal SIGKILL): evaluate it again";
const LONGEST_MS = 5_000;

/** Kills the SDK's process, and waits for the evaluation to say so. */
async function killed(stage: EndingStage, failure: Promise<PromptEvaluationError>) {
  stage.killSdk();
  const start = Date.now();
  const error = await failure;
  expect(Date.now() - start).toBeLessThan(LONGEST_MS);
  expect(error).toBeInstanceOf(PromptEvaluationError);
  expect(error).toMatchObject({ message: WORDS, phase: "response", promptName: "test:run" });
  return error;
}

describe.skipIf(sdkMissing)("When the SDK's process is killed", { timeout: SDK_TIMEOUT }, () => {
  test("while the model is asked, the evaluation says so and what to do", async () => {
    const asked = Promise.withResolvers<void>();
    const stage = await endingStage(() => {
      asked.resolve();
      return { stall: true };
    });
    const failure = stage.failure();
    await asked.promise;
    const { partial } = await killed(stage, failure);
    expect(partial).toMatchObject({ text: null, turns: 0, hostedCalls: [] });
    expect(stage.noted()).toEqual(["before"]);
    await stage.expectNothingLeft();
  });

  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`while a command runs ${where}, that ends too, and earlier turns are kept`, async () => {
      const stage = await endingStage(
        [{ content: [say("First."), own(note)] }, { content: [bash("sleep 600")] }],
        { isSandboxed },
      );
      const failure = stage.failure();
      await stage.commandBegun();
      const commands = () => stage.processes().map(({ command }) => command);
      await expect.poll(commands).toContain("sleep 600");
      const { partial } = await killed(stage, failure);
      expect(partial).toMatchObject({ text: "First.", turns: 1, usage: { totalTokens: 15 } });
      expect(stage.noted()).toEqual(["before", "by our tool"]);
      await stage.expectNothingLeft();
    });
  }

  test("while a tool of ours runs, that is finished first", async () => {
    let stage: EndingStage | null = null;
    const killing = new Tool({
      name: "killing",
      description: "Kills whoever called it.",
      params: null,
      handler: async (_params, { session }) => {
        stage?.killSdk();
        await new Promise((resolve) => setTimeout(resolve, 300));
        session.dispatch({ type: "EndingNoted", note: "afterwards" });
        return ToolResult.ok(null);
      },
    });
    stage = await endingStage([{ content: [say("I call."), own(killing)] }], { tools: [killing] });
    const error = await stage.failure();
    expect(error).toMatchObject({ message: WORDS, partial: { text: "I call.", turns: 1 } });
    expect(stage.noted()).toEqual(["before", "afterwards"]);
    await stage.expectNothingLeft();
  });

  test("between two turns, what its commands did is known", async () => {
    const stage = await endingStage([{ content: [say("I look."), bash("echo hello")] }]);
    stage.bus.subscribe("TurnCompleted", () => stage.killSdk());
    const error = await stage.failure();
    const calls = [{ name: "shell", success: true, message: "hello" }];
    expect(error).toMatchObject({
      message: WORDS,
      partial: { text: "I look.", turns: 1, hostedCalls: calls },
    });
    await stage.expectNothingLeft();
  });

  test("just before it is told of new tools, the evaluation says the same", async () => {
    const stage = await endingStage([
      { content: [use("mcp__wink__open_sections", { section_keys: ["more"], reason: "I must." })] },
    ]);
    stage.bus.subscribe("ToolInvoked", () => stage.killSdk());
    const more = new MarkdownSection({
      key: "more",
      title: "More",
      template: "More.",
      summary: "There is more.",
      visibility: "summary",
      tools: [note],
    });
    const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [more] }));
    const [done] = await Promise.allSettled([
      stage.adapter.evaluate(prompt, { session: stage.session }),
    ]);
    expect(done).toMatchObject({ status: "rejected", reason: { message: WORDS } });
    expect(stage.bus.of("ToolInvoked")).toMatchObject([{ result: { success: true } }]);
    await stage.expectNothingLeft();
  });
});
