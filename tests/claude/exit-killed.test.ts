import { describe, expect, test } from "vitest";
import {
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Tool,
  ToolResult,
} from "weakincentives";
import {
  createEndingFixture,
  type EndingFixture,
  noteTool,
  useBash,
  useTool,
} from "../support/claude/exit-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const MESSAGE =
  "The Claude Agent SDK ended before it answered (Claude Code process terminated by signal SIGKILL). Evaluate the prompt again.";
const LONGEST_MS = 5_000;

/** Kills the SDK's process, and returns the evaluation's error. */
async function killAndCatch(fixture: EndingFixture, failure: Promise<PromptEvaluationError>) {
  fixture.killSdk();
  const start = Date.now();
  const error = await failure;
  expect(Date.now() - start).toBeLessThan(LONGEST_MS);
  expect(error).toBeInstanceOf(PromptEvaluationError);
  expect(error).toMatchObject({ message: MESSAGE, phase: "response", promptName: "test:run" });
  return error;
}

describe.skipIf(sdkMissing)("Killing the SDK's process", { timeout: SDK_TIMEOUT }, () => {
  test("during a request makes the evaluation throw an error with a remedy", async () => {
    const requested = Promise.withResolvers<void>();
    const fixture = await createEndingFixture(() => {
      requested.resolve();
      return { stall: true };
    });
    const failure = fixture.runToError();
    await requested.promise;
    const { partial } = await killAndCatch(fixture, failure);
    expect(partial).toMatchObject({ text: null, turns: 0, hostedCalls: [] });
    expect(fixture.readNotes()).toEqual(["before"]);
    await fixture.expectNothingLeft();
  });

  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`while a command runs ${where} stops the command and keeps earlier turns`, async () => {
      const fixture = await createEndingFixture(
        [
          { content: [textBlock("First."), useTool(noteTool)] },
          { content: [useBash("sleep 600")] },
        ],
        { isSandboxed },
      );
      const failure = fixture.runToError();
      await fixture.waitForCommand();
      const listCommands = () => fixture.listProcesses().map(({ command }) => command);
      await expect.poll(listCommands).toContain("sleep 600");
      const { partial } = await killAndCatch(fixture, failure);
      expect(partial).toMatchObject({ text: "First.", turns: 1, usage: { totalTokens: 15 } });
      expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
      await fixture.expectNothingLeft();
    });
  }

  test("while a prompt's tool runs lets the tool finish first", async () => {
    let fixture: EndingFixture | null = null;
    const killing = new Tool({
      name: "killing",
      description: "Kills the SDK's process.",
      params: null,
      handler: async (_params, { session }) => {
        fixture?.killSdk();
        await new Promise((resolve) => setTimeout(resolve, 300));
        session.dispatch({ type: "EndingNoted", note: "after the kill" });
        return ToolResult.ok(null);
      },
    });
    fixture = await createEndingFixture([{ content: [textBlock("I call."), useTool(killing)] }], {
      tools: [killing],
    });
    const error = await fixture.runToError();
    expect(error).toMatchObject({ message: MESSAGE, partial: { text: "I call.", turns: 1 } });
    expect(fixture.readNotes()).toEqual(["before", "after the kill"]);
    await fixture.expectNothingLeft();
  });

  test("between two turns keeps the results of its commands", async () => {
    const fixture = await createEndingFixture([
      { content: [textBlock("I look."), useBash("echo hello")] },
    ]);
    fixture.bus.subscribe("TurnCompleted", () => fixture.killSdk());
    const error = await fixture.runToError();
    const calls = [{ name: "shell", success: true, message: "hello" }];
    expect(error).toMatchObject({
      message: MESSAGE,
      partial: { text: "I look.", turns: 1, hostedCalls: calls },
    });
    await fixture.expectNothingLeft();
  });

  test("before new tools are offered makes the evaluation throw the same error", async () => {
    const fixture = await createEndingFixture([
      {
        content: [
          toolUse("mcp__wink__open_sections", { section_keys: ["more"], reason: "I must." }),
        ],
      },
    ]);
    fixture.bus.subscribe("ToolInvoked", () => fixture.killSdk());
    const more = new MarkdownSection({
      key: "more",
      title: "More",
      template: "More.",
      summary: "There is more.",
      visibility: "summary",
      tools: [noteTool],
    });
    const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [more] }));
    const [done] = await Promise.allSettled([
      fixture.adapter.evaluate(prompt, { session: fixture.session }),
    ]);
    expect(done).toMatchObject({ status: "rejected", reason: { message: MESSAGE } });
    expect(fixture.bus.of("ToolInvoked")).toMatchObject([{ result: { success: true } }]);
    await fixture.expectNothingLeft();
  });
});
