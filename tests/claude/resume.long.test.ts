import { describe, expect, test } from "vitest";
import { Prompt, PromptTemplate, Session, Tool, ToolResult, webSearchTool } from "weakincentives";
import { z } from "zod";
import {
  createFixture,
  createPrompt,
  startScriptedServer,
} from "../support/claude/claude-fixture.ts";
import { type MessagesAnswer, textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { MemorySessionStore } from "../support/memory-session-store.ts";

const ID = "run";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  effects: "idempotent",
  handler: () => ToolResult.ok(null, "An owl."),
});

/** Runs a prompt, then resumes it in a new session from its records up to the last `TurnCompleted` but one. */
async function runAndResume<Output>(
  script: readonly MessagesAnswer[],
  prompt: () => Prompt<Output>,
  evaluate: object = {},
) {
  const endpoint = await startScriptedServer([...script, ...script.slice(-1)]);
  const store = new MemorySessionStore();
  const first = createFixture(endpoint, { session: new Session({ id: ID, store }) });
  const whole = await first.run(prompt(), { evaluate });
  await first.session.flush();
  const lines = store.lines.get(ID) ?? [];
  const turns = lines.flatMap((line, index) => (line.includes('"TurnCompleted"') ? [index] : []));
  expect(turns).toHaveLength(script.length);
  const killed = new MemorySessionStore();
  killed.lines.set(ID, lines.slice(0, turns.at(-1)));
  const session = await Session.openOrCreate(killed, ID);
  const second = createFixture(endpoint, { session });
  const resumed = await second.run(prompt(), { evaluate: { ...evaluate, resume: true } });
  expect(endpoint.requests).toHaveLength(script.length + 1);
  expect(resumed.text).toBe(whole.text);
  return { whole, resumed, lastRequest: endpoint.requests.at(-1)?.text ?? "" };
}

describe.skipIf(sdkMissing)(
  "An evaluation on the real SDK that is resumed before its last turn",
  { timeout: SDK_TIMEOUT },
  () => {
    test("has the user's input once, and the result of its call", async () => {
      const { whole, resumed, lastRequest } = await runAndResume(
        [{ content: [toolUse("mcp__wink__look", {})] }, { content: [textBlock("An owl it is.")] }],
        () => createPrompt({ tools: [look] }),
        { input: "Which bird is it?" },
      );
      expect(resumed.usage).toEqual(whole.usage);
      expect(lastRequest.split("Which bird is it?")).toHaveLength(2);
      expect(lastRequest).toContain("An owl.");
      expect(lastRequest).toContain("The process that ran this conversation was lost");
    });

    test("has the results, outputs and citations of its searches", async () => {
      const tool = webSearchTool();
      const answer = "See [Owls](https://owls.example/night).";
      const { whole, resumed } = await runAndResume(
        [
          { content: [toolUse("WebSearch", { query: "owls" })] },
          { content: [toolUse("mcp__wink__look", {})] },
          { content: [textBlock(answer)] },
        ],
        () => createPrompt({ tools: [look], hostedTools: [tool] }),
      );
      // The SDK reports the tokens of a search's own request only at the end of its process.
      expect([whole.usage.inputTokens, resumed.usage.inputTokens]).toEqual([40, 30]);
      expect(whole.citations).toHaveLength(1);
      expect(resumed.citations).toEqual(whole.citations);
      expect(resumed.hostedOutputs.get(tool)).toEqual(whole.hostedOutputs.get(tool));
    });

    test("reads why its structured answer was rejected, and answers again", async () => {
      const output = z.object({ age: z.number() });
      const { sections } = createPrompt().template;
      const template = new PromptTemplate({ ns: "test", key: "typed", sections, output });
      const { whole, resumed, lastRequest } = await runAndResume(
        [{ age: "old" }, { age: 4 }].map((answer) => ({
          content: [toolUse("StructuredOutput", answer)],
        })),
        () => new Prompt(template),
      );
      expect(resumed.output).toEqual({ age: 4 });
      expect(resumed.usage).toEqual(whole.usage);
      expect(lastRequest).toContain('"is_error":true');
    });
  },
);
