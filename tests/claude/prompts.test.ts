import { describe, expect, test } from "vitest";
import {
  codeInterpreterTool,
  type FeedbackProvider,
  MarkdownSection,
  type OverridesStore,
  Prompt,
  PromptTemplate,
  shellTool,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import { readRecords, readString } from "../../src/base/json.ts";
import {
  createPrompt,
  createServerFixture,
  readLastMessage,
} from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

function createTool(name: string, message = "Seen.", more: object = {}): Tool {
  const handler = () => ToolResult.ok(null, message);
  return new Tool({ name, description: `Does ${name}.`, params: null, handler, ...more });
}

const createCall = (name: string) => ({ content: [toolUse(`mcp__wink__${name}`, {})] });
const createBashCall = (command: string) => ({ content: [toolUse("Bash", { command })] });

function listToolNames(body: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return readRecords(body ?? {}, "tools").map((tool) => readString(tool, "name"));
}

describe.skipIf(sdkMissing)("A prompt on the real SDK", () => {
  test(
    "sends feedback after native and bridged calls, and applies policies",
    async () => {
      let count = 0;
      const feedback: FeedbackProvider = { name: "count", provide: () => `Advice ${++count}.` };
      const policy = { name: "never", check: () => "Not on a Sunday" };
      const task = new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Go.",
        tools: [createTool("look"), createTool("leap", "Leapt.", { policies: [policy] })],
        hostedTools: [shellTool()],
      });
      const fixture = await createServerFixture([
        createBashCall("echo hi"),
        createCall("look"),
        createCall("leap"),
        { content: [textBlock("Done.")] },
      ]);
      const prompt = new Prompt(
        new PromptTemplate({ ns: "test", key: "rules", sections: [task], feedback: [feedback] }),
      );
      await fixture.run(prompt);
      const messages = fixture.requests.map((_one, index) =>
        readLastMessage({ ...fixture, requests: fixture.requests.slice(0, index + 1) }),
      );
      expect(messages[1]).toContain("Advice 1.");
      expect(messages[2]).toMatch(/Seen\..*Advice 2\./);
      expect(messages[3]).toContain('Not on a Sunday (policy \\"never\\")');
      expect(fixture.bus.of("ToolInvoked").map(({ result }) => result.success)).toEqual([
        true,
        true,
        false,
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "adds a section's text and tools when it is opened during a run, and removes them when it is closed",
    async () => {
      const close = new Tool({
        name: "close",
        description: "Closes the cellar.",
        params: null,
        handler: (_params, { session, prompt }) => {
          const about = { sessionId: session.id, promptName: prompt.name, path: "cellar" };
          session.dispatch({ type: "VisibilityChanged", ...about, visibility: "summary" });
          return ToolResult.ok(null, "Closed.");
        },
      });
      const cellar = new MarkdownSection({
        key: "cellar",
        title: "Cellar",
        template: "Mind the third step.",
        summary: "There is a cellar.",
        visibility: "summary",
        tools: [createTool("descend", "It is dark."), close],
      });
      const opening = { section_keys: ["cellar"], reason: "I must see it." };
      const fixture = await createServerFixture([
        { content: [toolUse("mcp__wink__open_sections", opening)] },
        createCall("descend"),
        createCall("close"),
        createCall("descend"),
        { content: [textBlock("Done.")] },
      ]);
      const response = await fixture.run(createPrompt({ tools: [createTool("look")] }, [cellar]));
      expect(response.text).toBe("Done.");
      const offered = fixture.requests.map(({ body }) => listToolNames(body));
      const toBridgedNames = (names: readonly string[]) =>
        names.map((name) => `mcp__wink__${name}`);
      expect(offered[0]?.toSorted()).toEqual(toBridgedNames(["look", "open_sections"]));
      expect(offered[1]?.toSorted()).toEqual(
        toBridgedNames(["close", "descend", "look", "open_sections"]),
      );
      expect(fixture.requests[0]?.text).not.toContain("Mind the third step.");
      expect(fixture.requests[1]?.text).toContain("Mind the third step.");
      expect(fixture.bus.of("ToolInvoked").map(({ result }) => result.message)).toEqual([
        'Opened "cellar": read the prompt again.',
        "It is dark.",
        "Closed.",
        expect.stringContaining("no tool"),
      ]);
      // Removed tools stay declared, so that the request's cache stays valid, but calls are rejected.
      expect(offered[4]).toEqual(offered[1]);
      expect(readLastMessage({ ...fixture, requests: fixture.requests.slice(0, 4) })).toContain(
        "There is a cellar.",
      );
    },
    SDK_TIMEOUT,
  );

  test(
    "applies overrides to section texts and tool descriptions",
    async () => {
      const fixture = await createServerFixture([{ content: [textBlock("Done.")] }]);
      const { template } = createPrompt({ tools: [createTool("look")] });
      const [section] = template.descriptor.sections;
      const [tool] = template.descriptor.tools;
      const expectedHash = section?.contentHash ?? "";
      const expectedContractHash = tool?.contractHash ?? "";
      const overrides: OverridesStore = {
        load: async () => ({
          sections: { task: { expectedHash, body: "Go slowly." } },
          tools: { look: { expectedContractHash, description: "Looks twice." } },
        }),
        save: async () => {},
      };
      await fixture.run(new Prompt(template, { overrides }));
      expect(fixture.requests[0]?.text).toContain("Go slowly.");
      expect(readRecords(fixture.requests[0]?.body ?? {}, "tools")).toMatchObject([
        { name: "mcp__wink__look", description: "Looks twice." },
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    'offers no tools with toolChoice "none", and rejects a forced tool choice',
    async () => {
      const fixture = await createServerFixture([{ content: [textBlock("Done.")] }]);
      const prompt = createPrompt({ tools: [createTool("look")], hostedTools: [shellTool()] });
      const error = await fixture.runToError(prompt, { evaluate: { toolChoice: "required" } });
      expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
      expect(error.message).toBe(
        'toolChoice must be "auto", "none" or allowed tools with the mode "auto" on Claude: the SDK ' +
          'cannot force the model to call a tool, got "required". Name the tool to call in the prompt.',
      );
      const toolChoice = { type: "function", name: "look" };
      const named = await fixture.runToError(prompt, { evaluate: { toolChoice } });
      expect(named.message).toContain('got {"type":"function","name":"look"}');
      expect(fixture.requests).toEqual([]);
      await fixture.run(prompt, { evaluate: { toolChoice: "none" } });
      expect(listToolNames(fixture.requests[0]?.body)).toEqual([]);
    },
    SDK_TIMEOUT,
  );

  test(
    "offers only the allowed tools for the whole run",
    async () => {
      const fixture = await createServerFixture([
        { content: [toolUse("mcp__wink__look", {})] },
        { content: [toolUse("mcp__wink__look", {})] },
        { content: [textBlock("Done.")] },
      ]);
      const prompt = createPrompt({
        tools: [createTool("look"), createTool("leap")],
        hostedTools: [webSearchTool({}, { name: "search" }), codeInterpreterTool()],
      });
      const search = { type: "built_in", name: "search" } as const;
      const named = [{ type: "function", name: "look" }, search] as const;
      const toolChoice = { type: "allowed_tools", mode: "auto", tools: named } as const;
      await fixture.run(prompt, {
        adapter: { unsupportedHostedTools: "omit" },
        evaluate: { toolChoice },
      });
      expect(fixture.requests.map(({ body }) => listToolNames(body))).toEqual(
        Array.from({ length: 3 }, () => ["WebSearch", "mcp__wink__look"]),
      );
      const forced = await fixture.runToError(prompt, {
        adapter: { unsupportedHostedTools: "omit" },
        evaluate: { toolChoice: { ...toolChoice, mode: "required" } },
      });
      expect(forced.message).toContain("the SDK cannot force the model to call a tool");
      const unknown = await fixture.runToError(prompt, {
        adapter: { unsupportedHostedTools: "omit" },
        evaluate: { toolChoice: { ...toolChoice, tools: [...named, { type: "web_serch" }] } },
      });
      expect(unknown.message).toBe(
        'toolChoice.tools[2] must name a tool in this prompt, got {"type":"web_serch"}. Did you ' +
          'mean "web_search"?',
      );
    },
    SDK_TIMEOUT,
  );

  test(
    "passes a long tool result to the model completely",
    async () => {
      const long = `${"owl ".repeat(100_000)}The end.`;
      const fixture = await createServerFixture([
        createCall("look"),
        { content: [textBlock("Done.")] },
      ]);
      await fixture.run(createPrompt({ tools: [createTool("look", long)] }));
      expect(readLastMessage(fixture)).toContain(long);
    },
    SDK_TIMEOUT,
  );
});
