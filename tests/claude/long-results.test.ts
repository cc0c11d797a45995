import { describe, expect, test } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult } from "weakincentives";
import { ClaudeAgentSDKAdapter } from "weakincentives/claude";
import { startMessagesServer, textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

describe.skipIf(sdkMissing)("a tool's result on the real SDK", () => {
  test(
    "reaches the model completely, even if it is 400,000 characters long",
    async () => {
      const page = "An owl. ".repeat(50_000);
      const read = new Tool({
        name: "read_page",
        description: "Reads a page.",
        params: null,
        handler: () => ToolResult.ok(null, page),
      });
      const task = { key: "task", title: "Task", template: "Read.", tools: [read] };
      const sections = [new MarkdownSection(task)];
      await using server = await startMessagesServer([
        { content: [toolUse("mcp__wink__read_page", {})] },
        { content: [textBlock("Read.")] },
      ]);
      const isolation = { apiKey: "k", baseURL: server.url };
      await new ClaudeAgentSDKAdapter({ isolation }).evaluate(
        new Prompt(new PromptTemplate({ ns: "c", key: "long", sections })),
        { session: new Session() },
      );
      expect(server.requests[1]?.text).toContain(page.trimEnd());
    },
    SDK_TIMEOUT,
  );
});
