import { describe, expect, test } from "vitest";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
} from "weakincentives";
import { ClaudeAgentSDKAdapter } from "weakincentives/claude";
import { recordingBus } from "weakincentives/testing";
import { startMessagesServer, textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

describe.skipIf(sdkMissing)("a summarized section with a hosted tool on the real SDK", () => {
  const lab = new MarkdownSection({
    key: "lab",
    title: "Lab",
    template: "Try things out here.",
    summary: "A place to try things out.",
    visibility: "summary",
    hostedTools: [codeInterpreterTool()],
  });
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Count." });
  const prompt = new Prompt(new PromptTemplate({ ns: "c", key: "lab", sections: [task, lab] }));

  test(
    "provides the tool only after the model has opened the section",
    async () => {
      const createBashCall = () =>
        toolUse("Bash", { command: "echo counted", description: "Counts" });
      await using server = await startMessagesServer([
        { content: [createBashCall()] },
        {
          content: [
            toolUse("mcp__wink__open_sections", { section_keys: ["lab"], reason: "to count" }),
          ],
        },
        { content: [createBashCall()] },
        { content: [textBlock("Done.")] },
      ]);
      const isolation = { apiKey: "k", baseURL: server.url };
      const bus = recordingBus();
      await new ClaudeAgentSDKAdapter({ isolation }).evaluate(prompt, {
        session: new Session({ bus }),
      });
      expect(server.requests[1]?.text).toContain("Bash is not available now");
      expect(server.requests[2]?.text).toContain("Try things out here.");
      expect(server.requests[3]?.text).toContain("counted");
      const hosted = bus.of("ToolInvoked").filter(({ origin }) => origin);
      expect(hosted.map(({ name, result }) => [name, result.message])).toEqual([
        ["code_interpreter", "counted"],
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "never provides the tool if the caller allows no hosted tools",
    async () => {
      await using server = await startMessagesServer([{ content: [textBlock("Done.")] }]);
      const isolation = { apiKey: "k", baseURL: server.url };
      const session = new Session();
      const adapter = new ClaudeAgentSDKAdapter({ isolation });
      await adapter.evaluate(prompt, { session, allowHostedTools: false });
      expect(server.requests[0]?.text).not.toContain('"Bash"');
    },
    SDK_TIMEOUT,
  );
});
