import { describe, expect, test } from "vitest";
import {
  type FeedbackProvider,
  MarkdownSection,
  type OverridesStore,
  Prompt,
  PromptTemplate,
  shellTool,
  Tool,
  ToolResult,
} from "weakincentives";
import { recordsAt, textAt } from "../../src/base/reading.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { lastTold, promptOf, wireStage } from "../support/claude/stage.ts";

function toolNamed(name: string, said = "Seen.", more: object = {}): Tool {
  const handler = () => ToolResult.ok(null, said);
  return new Tool({ name, description: `Does ${name}.`, params: null, handler, ...more });
}

const call = (name: string) => ({ content: [use(`mcp__wink__${name}`, {})] });
const bash = (command: string) => ({ content: [use("Bash", { command })] });

function toolNames(body: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return recordsAt(body ?? {}, "tools").map((tool) => textAt(tool, "name"));
}

describe.skipIf(sdkMissing)("A prompt's own rules on the real SDK:", () => {
  test(
    "feedback reaches the model after its own calls and ours, and policies deny",
    async () => {
      let said = 0;
      const feedback: FeedbackProvider = { name: "count", provide: () => `Advice ${++said}.` };
      const policy = { name: "never", check: () => "Not on a Sunday" };
      const task = new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Go.",
        tools: [toolNamed("look"), toolNamed("leap", "Leapt.", { policies: [policy] })],
        hostedTools: [shellTool()],
      });
      const stage = await wireStage([
        bash("echo hi"),
        call("look"),
        call("leap"),
        { content: [say("Done.")] },
      ]);
      const prompt = new Prompt(
        new PromptTemplate({ ns: "test", key: "rules", sections: [task], feedback: [feedback] }),
      );
      await stage.run(prompt);
      const told = stage.requests.map((_one, place) =>
        lastTold({ ...stage, requests: stage.requests.slice(0, place + 1) }),
      );
      expect(told[1]).toContain("Advice 1.");
      expect(told[2]).toMatch(/Seen\..*Advice 2\./);
      expect(told[3]).toContain('Not on a Sunday (policy \\"never\\")');
      expect(stage.bus.of("ToolInvoked").map(({ result }) => result.success)).toEqual([
        true,
        true,
        false,
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "a section opened in mid-run brings its text and its tools, and one closed takes them away",
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
        tools: [toolNamed("descend", "It is dark."), close],
      });
      const opening = { section_keys: ["cellar"], reason: "I must see it." };
      const stage = await wireStage([
        { content: [use("mcp__wink__open_sections", opening)] },
        call("descend"),
        call("close"),
        call("descend"),
        { content: [say("Done.")] },
      ]);
      const response = await stage.run(promptOf({ tools: [toolNamed("look")] }, [cellar]));
      expect(response.text).toBe("Done.");
      const offered = stage.requests.map(({ body }) => toolNames(body));
      const own = (names: readonly string[]) => names.map((name) => `mcp__wink__${name}`);
      expect(offered[0]?.toSorted()).toEqual(own(["look", "open_sections"]));
      expect(offered[1]?.toSorted()).toEqual(own(["close", "descend", "look", "open_sections"]));
      expect(stage.requests[0]?.text).not.toContain("Mind the third step.");
      expect(stage.requests[1]?.text).toContain("Mind the third step.");
      expect(stage.bus.of("ToolInvoked").map(({ result }) => result.message)).toEqual([
        'Opened "cellar": read the prompt again.',
        "It is dark.",
        "Closed.",
        expect.stringContaining("no tool"),
      ]);
      // What is gone stays declared, so that the request's cache holds; a call of it is refused.
      expect(offered[4]).toEqual(offered[1]);
      expect(lastTold({ ...stage, requests: stage.requests.slice(0, 4) })).toContain(
        "There is a cellar.",
      );
    },
    SDK_TIMEOUT,
  );

  test(
    "overrides stand for its texts and the words of its tools",
    async () => {
      const stage = await wireStage([{ content: [say("Done.")] }]);
      const { template } = promptOf({ tools: [toolNamed("look")] });
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
      await stage.run(new Prompt(template, { overrides }));
      expect(stage.requests[0]?.text).toContain("Go slowly.");
      expect(recordsAt(stage.requests[0]?.body ?? {}, "tools")).toMatchObject([
        { name: "mcp__wink__look", description: "Looks twice." },
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    'toolChoice "none" offers nothing, and what the SDK cannot force is refused at once',
    async () => {
      const stage = await wireStage([{ content: [say("Done.")] }]);
      const prompt = promptOf({ tools: [toolNamed("look")], hostedTools: [shellTool()] });
      const refused = await stage.failure(prompt, { evaluate: { toolChoice: "required" } });
      expect(refused).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
      expect(refused.message).toBe(
        'toolChoice must be "auto" or "none" on the Claude Agent SDK, which cannot make the model ' +
          'call a tool, got "required". Say in the prompt which tool is to be called',
      );
      const toolChoice = { type: "function", name: "look" };
      const named = await stage.failure(prompt, { evaluate: { toolChoice } });
      expect(named.message).toContain('got {"type":"function","name":"look"}');
      expect(stage.requests).toEqual([]);
      await stage.run(prompt, { evaluate: { toolChoice: "none" } });
      expect(toolNames(stage.requests[0]?.body)).toEqual([]);
    },
    SDK_TIMEOUT,
  );

  test(
    "a long result of a tool of ours is read whole",
    async () => {
      const long = `${"owl ".repeat(100_000)}The end.`;
      const stage = await wireStage([call("look"), { content: [say("Done.")] }]);
      await stage.run(promptOf({ tools: [toolNamed("look", long)] }));
      expect(lastTold(stage)).toContain(long);
    },
    SDK_TIMEOUT,
  );
});
