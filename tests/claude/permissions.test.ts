import { describe, expect, test } from "vitest";
import { shellTool, Tool, ToolResult, webSearchTool } from "weakincentives";
import type { PermissionMode } from "weakincentives/claude";
import { createPrompt, createServerFixture } from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { filesIn } from "../support/files-in.ts";

const note = new Tool({
  name: "note",
  description: "Notes.",
  params: null,
  handler: () => ToolResult.ok(null, "Noted."),
});

/** Creates one call of each type. */
const createCalls = () => [
  [toolUse("Read", { file_path: "a.txt" })],
  [toolUse("Read", { file_path: "/etc/passwd" })],
  [toolUse("Write", { file_path: "new.txt", content: "x" })],
  [toolUse("Bash", { command: "touch made" })],
  [toolUse("Bash", { command: "python3 -c 'print(6 * 7)'" })],
  [toolUse("WebSearch", { query: "owls" })],
  [toolUse("mcp__wink__note", {})],
];

const everything = {
  ran: ["claude_read", "claude_write", "shell", "shell", "web_search", "note"],
  denied: ["claude_read"],
  files: ["a.txt", "made", "new.txt"],
};

const modes: readonly [PermissionMode, typeof everything][] = [
  ["dontAsk", everything],
  ["bypassPermissions", everything],
  [
    "acceptEdits",
    {
      ran: ["claude_read", "claude_write", "shell", "web_search", "note"],
      denied: ["claude_read", "shell"],
      files: ["a.txt", "made", "new.txt"],
    },
  ],
  [
    "default",
    {
      ran: ["claude_read", "web_search", "note"],
      denied: ["claude_read", "claude_write", "shell", "shell"],
      files: ["a.txt"],
    },
  ],
  // Tools that are not read-only are not even offered.
  [
    "plan",
    {
      ran: ["claude_read", "web_search"],
      denied: ["claude_read", "Write", "Bash", "Bash"],
      files: ["a.txt"],
    },
  ],
];

describe.skipIf(sdkMissing)("A permission mode on the real SDK", () => {
  test.each(modes)(
    "%s runs the allowed calls and denies all others without a prompt",
    async (permissionMode, { ran, denied, files }) => {
      const fixture = await createServerFixture((_request, number) => {
        return { content: createCalls()[number - 1] ?? [textBlock("Done.")] };
      });
      const workspace = fixture.createWorkspace({ "a.txt": "x" });
      const prompt = createPrompt({ tools: [note], hostedTools: [shellTool(), webSearchTool()] }, [
        workspace,
      ]);
      const response = await fixture.run(prompt, { adapter: { permissionMode } });
      expect(response.text).toBe("Done.");
      const results = fixture.bus
        .of("ToolInvoked")
        .map(({ name, result }) => ({ name, ...result }));
      const listNames = (success: boolean) =>
        results.filter((one) => one.success === success).map(({ name }) => name);
      expect(listNames(true)).toEqual(ran);
      expect(listNames(false)).toEqual(denied);
      expect(Object.keys(filesIn(workspace.tempDir)).toSorted()).toEqual(files);
    },
    SDK_TIMEOUT,
  );
});
