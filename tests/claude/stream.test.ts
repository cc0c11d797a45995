import { describe, expect, test } from "vitest";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type Session,
  type StreamEvent,
  shellTool,
  Tool,
  ToolResult,
} from "weakincentives";
import { ClaudeAgentSDKAdapter } from "weakincentives/claude";
import * as z from "zod";
import {
  createLocalFixture,
  createPrompt,
  createServerFixture,
  KEY,
  type ModelEndpoint,
} from "../support/claude/claude-fixture.ts";
import { listFolderProcesses } from "../support/claude/folder-processes.ts";
import {
  createThinking,
  jsonToolUse,
  textBlock,
  toolUse,
} from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

type Fixture = ModelEndpoint & { readonly session: Session };
type Part = Exclude<StreamEvent, { readonly type: "bus" }>;

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: z.object({ at: z.string() }),
  handler: ({ at }) => ToolResult.ok(null, `An owl at ${at}.`),
});

/** Streams a prompt, and returns the parts and the response. */
async function stream<Output>({ baseURL, session }: Fixture, prompt: Prompt<Output>) {
  const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: KEY, baseURL } });
  await using events = adapter.stream(prompt, { session });
  const parts: Part[] = [];
  for await (const event of events) if (event.type !== "bus") parts.push(event);
  return { parts, response: await events.response };
}

/** Joins the deltas of a type of part in a turn. */
function joinDeltas(parts: readonly Part[], type: Part["type"], turn: number): string {
  const chosen = parts.filter((part) => part.type === type && part.turn === turn);
  return chosen.map((part) => ("delta" in part ? part.delta : "")).join("");
}

describe.skipIf(sdkMissing)("A stream on the real SDK", () => {
  test(
    "delivers text, reasoning, calls of the prompt's tools and native calls with their command",
    async () => {
      const bash = toolUse("Bash", { command: 'echo "hoot"', description: "Hoots" }, "toolu_bash");
      const fixture = await createServerFixture([
        {
          content: [
            createThinking("I should look for the owl first."),
            textBlock("Let me look at it."),
            toolUse("mcp__wink__look", { at: "the barn" }, "toolu_look"),
          ],
        },
        { content: [bash] },
        { content: [textBlock("It is an owl that hoots.")] },
      ]);
      const prompt = createPrompt({ tools: [look], hostedTools: [shellTool()] });
      const { parts, response } = await stream(fixture, prompt);
      expect(response.text).toBe("It is an owl that hoots.");
      expect(joinDeltas(parts, "reasoning", 1)).toBe("I should look for the owl first.");
      expect(joinDeltas(parts, "text", 1)).toBe("Let me look at it.");
      const calls = parts.filter(({ type }) => type === "toolCall");
      expect(calls[0]).toEqual({
        type: "toolCall",
        turn: 1,
        callId: "toolu_look",
        name: "look",
        delta: "",
      });
      expect(JSON.parse(joinDeltas(calls, "toolCall", 1))).toEqual({ at: "the barn" });
      const hosted = parts.filter((part) => part.type === "hostedCall");
      const call = { type: "hostedCall", turn: 2, callId: "toolu_bash", kind: "shell" };
      expect(hosted[0]).toEqual({ ...call, status: "in_progress" });
      expect(hosted.slice(1, -1).map(({ status }) => status)).toContain("in_progress");
      expect(joinDeltas(hosted, "hostedCall", 2)).toBe('echo "hoot"');
      expect(hosted.at(-1)).toEqual({ ...call, status: "completed" });
      expect(parts.filter(({ type, turn }) => type === "text" && turn === 3).length).toBe(4);
      expect(joinDeltas(parts, "text", 3)).toBe(response.text);
    },
    SDK_TIMEOUT,
  );

  test(
    "delivers a failed native call, and a denied one, with the status failed",
    async () => {
      const fixture = await createServerFixture([
        {
          content: [
            toolUse("Bash", { command: "exit 3" }),
            toolUse("Bash", { command: "echo", run_in_background: true }),
          ],
        },
        { content: [textBlock("Done.")] },
      ]);
      const { parts, response } = await stream(
        fixture,
        createPrompt({ hostedTools: [shellTool()] }),
      );
      expect(response.hostedCalls.map(({ success }) => success)).toEqual([false, false]);
      const ended = parts.filter((part) => part.type === "hostedCall" && part.status === "failed");
      expect(ended.map((part) => "callId" in part && part.callId).toSorted()).toEqual(
        response.hostedCalls.map(({ callId }) => callId).toSorted(),
      );
    },
    SDK_TIMEOUT,
  );

  test(
    "delivers a structured answer as text that equals the response's, without the text beside it",
    async () => {
      const json = '{\n  "animal": "an  \\"owl\\"",\n  "count": 2\n}';
      const fixture = await createServerFixture([
        { content: [textBlock("I look."), toolUse("mcp__wink__look", { at: "it" })] },
        { content: [textBlock("Here it is:"), jsonToolUse("StructuredOutput", json)] },
      ]);
      const section = new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Count.",
        tools: [look],
      });
      const prompt = new Prompt(
        new PromptTemplate({
          ns: "test",
          key: "count",
          sections: [section],
          output: z.object({ animal: z.string(), count: z.number() }),
        }),
      );
      const { parts, response } = await stream(fixture, prompt);
      expect(response.output).toEqual(JSON.parse(json));
      expect(joinDeltas(parts, "text", 1)).toBe("I look.");
      expect(joinDeltas(parts, "text", 2)).toBe(response.text);
      expect(response.text).toBe(JSON.stringify(JSON.parse(json)));
      expect(parts.filter(({ type, turn }) => type === "text" && turn === 2).length).toBe(4);
      expect(parts.some(({ type }) => type === "restart")).toBe(false);
    },
    SDK_TIMEOUT,
  );

  test.each([
    ["after a block", "after"],
    ["within a block", "within"],
  ] as const)(
    "delivers the text of the response if the connection is lost %s",
    async (_where, cut) => {
      const fixture = await createServerFixture([
        { content: [toolUse("mcp__wink__look", { at: "it" })] },
        { content: [textBlock("Half of an answ")], cut },
        { content: [textBlock("A whole answer.")] },
        { content: [textBlock("A third answer.")] },
      ]);
      const { parts, response } = await stream(fixture, createPrompt({ tools: [look] }));
      const restart = parts.findLastIndex(({ type }) => type === "restart");
      expect(joinDeltas(parts.slice(restart + 1), "text", 2)).toBe(response.text);
    },
    SDK_TIMEOUT,
  );

  test(
    "ends the SDK's processes when its reader leaves",
    async () => {
      const fixture = await createServerFixture([
        { content: [toolUse("Bash", { command: "sleep 60" })] },
      ]);
      const workspace = fixture.createWorkspace();
      const prompt = createPrompt({ hostedTools: [shellTool()] }, [workspace]);
      const { baseURL, session } = fixture;
      const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: KEY, baseURL } });
      const events = adapter.stream(prompt, { session });
      for await (const event of events) if (event.type === "hostedCall") break;
      expect(listFolderProcesses(workspace.tempDir)).not.toEqual([]);
      await events.close();
      expect(listFolderProcesses(workspace.tempDir)).toEqual([]);
      await expect(events.response).rejects.toThrow();
    },
    SDK_TIMEOUT,
  );

  test(
    "delivers all text to a reader that is more than 1 MiB behind",
    async () => {
      const text = "An owl. ".repeat(400_000);
      const fixture = await createServerFixture([{ content: [textBlock(text)] }]);
      const { baseURL, session } = fixture;
      const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: KEY, baseURL } });
      await using events = adapter.stream(createPrompt(), { session });
      const pieces: string[] = [];
      for await (const piece of events.text()) {
        pieces.push(piece);
        await new Promise((passed) => setTimeout(passed, 200));
      }
      expect(pieces.join("") === text).toBe(true);
      expect((await events.response).text === text).toBe(true);
    },
    SDK_TIMEOUT,
  );

  test(
    "works with the local provider's Messages API",
    async () => {
      const fixture = await createLocalFixture([
        [{ say: "I look." }, { call: { name: "look", args: { at: "the barn" } } }],
        [{ say: "It is an owl in the barn." }],
      ]);
      const { parts, response } = await stream(fixture, createPrompt({ tools: [look] }));
      expect(joinDeltas(parts, "text", 1)).toBe("I look.");
      expect(JSON.parse(joinDeltas(parts, "toolCall", 1))).toEqual({ at: "the barn" });
      expect(joinDeltas(parts, "text", 2)).toBe(response.text);
      expect(response.text).toBe("It is an owl in the barn.");
    },
    SDK_TIMEOUT,
  );
});

describe.skipIf(sdkMissing)("Progress on the real SDK", () => {
  test(
    "is published when a native call starts and ends, and once a second while it runs",
    async () => {
      const fixture = await createServerFixture([
        { content: [toolUse("Bash", { command: "sleep 2.5" })] },
        { content: [textBlock("Done.")] },
      ]);
      const { baseURL, session, bus } = fixture;
      const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: KEY, baseURL } });
      await adapter.evaluate(createPrompt({ hostedTools: [shellTool()] }), { session });
      const progress = bus.of("TurnProgressed").filter(({ turn }) => turn === 1);
      const started = progress.findIndex(({ last }) => last === "PreToolUse:Bash");
      const ended = progress.findIndex(({ last }) => last === "PostToolUse:Bash");
      expect(started).toBeGreaterThanOrEqual(0);
      expect(ended - started).toBeGreaterThanOrEqual(3);
      const duration = (progress[ended]?.elapsedMs ?? 0) - (progress[started]?.elapsedMs ?? 0);
      expect(duration).toBeGreaterThan(2000);
      expect(progress[ended]?.receivedBytes).toBeGreaterThan(500);
    },
    SDK_TIMEOUT,
  );
});
