import { describe, expect, test } from "vitest";
import { shellTool, Tool, ToolResult, webSearchTool } from "weakincentives";
import type { PermissionMode } from "weakincentives/claude";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { promptOf, wireStage } from "../support/claude/stage.ts";
import { filesIn } from "../support/files-in.ts";

const note = new Tool({
  name: "note",
  description: "Notes.",
  params: null,
  handler: () => ToolResult.ok(null, "Noted."),
});

/** One call of each sort. */
const calls = () => [
  [use("Read", { file_path: "a.txt" })],
  [use("Read", { file_path: "/etc/passwd" })],
  [use("Write", { file_path: "new.txt", content: "x" })],
  [use("Bash", { command: "touch made" })],
  [use("Bash", { command: "python3 -c 'print(6 * 7)'" })],
  [use("WebSearch", { query: "owls" })],
  [use("mcp__wink__note", {})],
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
  // What could change something is not even offered.
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
    "%s runs what it allows, denies the rest, and waits for nobody",
    async (permissionMode, { ran, denied, files }) => {
      const stage = await wireStage((_request, number) => {
        return { content: calls()[number - 1] ?? [say("Done.")] };
      });
      const workspace = stage.workspace({ "a.txt": "x" });
      const prompt = promptOf({ tools: [note], hostedTools: [shellTool(), webSearchTool()] }, [
        workspace,
      ]);
      const response = await stage.run(prompt, { adapter: { permissionMode } });
      expect(response.text).toBe("Done.");
      const told = stage.bus.of("ToolInvoked").map(({ name, result }) => ({ name, ...result }));
      const named = (success: boolean) =>
        told.filter((one) => one.success === success).map(({ name }) => name);
      expect(named(true)).toEqual(ran);
      expect(named(false)).toEqual(denied);
      expect(Object.keys(filesIn(workspace.tempDir)).toSorted()).toEqual(files);
    },
    SDK_TIMEOUT,
  );
});
