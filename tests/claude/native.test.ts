import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shellTool, Tool, ToolResult } from "weakincentives";
import {
  createPrompt,
  createServerFixture,
  readLastMessage,
} from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const createBashCall = (command: string) => toolUse("Bash", { command });
const notes: string[] = [];

/** Records its calls. */
const note = new Tool({
  name: "note",
  description: "Notes.",
  params: null,
  handler: () => {
    notes.push("note");
    return ToolResult.ok(null, "Noted.");
  },
});

const createNoteCall = () => toolUse("mcp__wink__note", {});

describe.skipIf(sdkMissing)("Native tools on the real SDK", () => {
  test(
    "are reported as hosted calls with name, params, result and origin, in the model's order",
    async () => {
      const fixture = await createServerFixture([
        { content: [toolUse("Write", { file_path: "new.txt", content: "one owl\n" })] },
        {
          content: [
            toolUse("Read", { file_path: "a.txt" }),
            toolUse("Edit", { file_path: "a.txt", old_string: "two", new_string: "three" }),
          ],
        },
        {
          content: [
            toolUse("Glob", { pattern: "**/*.txt" }),
            toolUse("Grep", { pattern: "owls", output_mode: "content" }),
          ],
        },
        { content: [createBashCall("cat a.txt"), textBlock("Wait.")] },
        { content: [textBlock("Done.")] },
      ]);
      const workspace = fixture.createWorkspace({ "a.txt": "two owls\n", "sub/b.txt": "" });
      const response = await fixture.run(createPrompt({ hostedTools: [shellTool()] }, [workspace]));
      expect(response.text).toBe("Done.");
      const folder = workspace.tempDir;
      const calls = fixture.bus.of("ToolInvoked");
      expect(calls.map(({ name, result }) => [name, result.success, result.message])).toEqual([
        ["claude_write", true, `Created ${folder}/new.txt`],
        ["claude_read", true, `Read ${folder}/a.txt`],
        ["claude_edit", true, `Edited ${folder}/a.txt`],
        ["claude_glob", true, expect.stringMatching(/b\.txt/)],
        ["claude_grep", true, expect.stringContaining("three owls")],
        ["shell", true, "three owls"],
      ]);
      expect(calls.map(({ origin }) => origin)).toEqual(
        ["write", "read", "edit", "glob", "grep"]
          .map((kind) => `claude_${kind}`)
          .concat("shell")
          .map((capability) => ({ execution: "provider", provider: "claude", capability })),
      );
      expect(new Set(calls.map(({ durationMs }) => durationMs))).toEqual(new Set([null]));
      expect(calls.at(-1)?.params).toEqual({ command: "cat a.txt" });
      expect(response.hostedCalls.map(({ name, callId }) => [name, callId])).toEqual(
        calls.map(({ name, callId }) => [name, callId]),
      );
      expect(fixture.bus.of("TurnCompleted").map(({ hostedCalls }) => hostedCalls.length)).toEqual([
        1, 2, 2, 1, 0,
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "run one after the other with the prompt's tools in any order, and are reported once",
    async () => {
      notes.length = 0;
      const fixture = await createServerFixture([
        { content: [createNoteCall(), createBashCall("echo 1")] },
        { content: [createBashCall("echo 2"), createNoteCall()] },
        { content: [createBashCall("echo 3"), createBashCall("echo 4")] },
        { content: [createNoteCall(), createNoteCall(), createBashCall("echo 5")] },
        { content: [textBlock("Done.")] },
      ]);
      const prompt = createPrompt({ tools: [note], hostedTools: [shellTool()] }, [
        fixture.createWorkspace(),
      ]);
      const response = await fixture.run(prompt);
      expect(fixture.bus.of("ToolInvoked").map(({ result }) => result.message)).toEqual([
        "Noted.",
        "1",
        "2",
        "Noted.",
        "3",
        "4",
        "Noted.",
        "Noted.",
        "5",
      ]);
      expect(notes).toHaveLength(4);
      expect(response.hostedCalls).toHaveLength(5);
      expect(fixture.requests).toHaveLength(5);
      expect(fixture.bus.of("TurnCompleted")).toHaveLength(5);
    },
    SDK_TIMEOUT,
  );

  test(
    "can fail, be denied or be unknown, and the model continues with the error",
    async () => {
      const messages: string[] = [];
      const steps = [
        [createBashCall("echo no >&2; exit 3")],
        [toolUse("Read", { file_path: "/etc/passwd" })],
        [createBashCall("ln -s /etc link")],
        [toolUse("Read", { file_path: "link/passwd" })],
        [toolUse("Write", { file_path: "../out.txt", content: "x" })],
        [toolUse("Bash", { command: "sleep 1", run_in_background: true })],
        [toolUse("Bash", { command: "ls", dangerouslyDisableSandbox: true })],
        [toolUse("WebFetch", { url: "http://127.0.0.1:1/", prompt: "x" })],
        [toolUse("mcp__wink__nothing", {})],
        [toolUse("Nothing", {}), createNoteCall()],
      ];
      const fixture = await createServerFixture((request, number) => {
        messages.push(readLastMessage({ requests: [request] }));
        const content = steps[number - 1] ?? [textBlock("Done.")];
        return { content };
      });
      const workspace = fixture.createWorkspace();
      const prompt = createPrompt({ tools: [note], hostedTools: [shellTool()] }, [workspace]);
      const response = await fixture.run(prompt);
      expect(response.text).toBe("Done.");
      const results = fixture.bus.of("ToolInvoked").map(({ name, result, origin }) => {
        return [name, result.success, result.message, origin ? "provider" : "here"];
      });
      const folder = workspace.tempDir;
      const toDenial = (path: string) =>
        `may not access "${path}": use a path in the working folder`;
      expect(results).toEqual([
        ["shell", false, "Exit code 3\nno", "provider"],
        ["claude_read", false, `Read ${toDenial("/etc/passwd")}`, "provider"],
        ["shell", true, "Ran and printed nothing", "provider"],
        ["claude_read", false, `Read ${toDenial(`${folder}/link/passwd`)}`, "provider"],
        ["claude_write", false, `Write ${toDenial(join(folder, "../out.txt"))}`, "provider"],
        ["shell", false, expect.stringContaining("run_in_background"), "provider"],
        ["shell", false, expect.stringContaining("dangerouslyDisableSandbox"), "provider"],
        ["WebFetch", false, expect.stringContaining("no tool"), "here"],
        ["nothing", false, expect.stringContaining("no tool"), "here"],
        ["Nothing", false, expect.stringContaining("no tool"), "here"],
        ["note", true, "Noted.", "here"],
      ]);
      expect(messages.slice(8)).toEqual(
        ["WebFetch", "nothing", "Nothing"].map((name) =>
          expect.stringContaining(
            `There is no tool named \\"${name}\\". Available tools: \\"note\\".`,
          ),
        ),
      );
      expect(fixture.requests.at(-1)?.text).not.toContain("hasn't heard from you");
      expect(existsSync(join(folder, "../out.txt"))).toBe(false);
    },
    SDK_TIMEOUT,
  );

  test(
    "store long output in a file that the model can read",
    async () => {
      const fixture = await createServerFixture((request, number) => {
        if (number === 1) return { content: [createBashCall("seq 1 30000")] };
        const path = /saved to: (\S+?\.txt)/.exec(readLastMessage({ requests: [request] }))?.[1];
        if (number > 2) return { content: [textBlock("Done.")] };
        return { content: [toolUse("Read", { file_path: path, offset: 29_990 })] };
      });
      await fixture.run(createPrompt({ hostedTools: [shellTool()] }, [fixture.createWorkspace()]));
      const [printed, read] = fixture.bus.of("ToolInvoked").map(({ result }) => result);
      expect(printed?.message).toMatch(/^1\n2\n.*more characters\)$/s);
      expect(printed?.message.length).toBeLessThan(10_100);
      expect(read).toMatchObject({ success: true });
      expect(readLastMessage(fixture)).toContain("29999");
    },
    SDK_TIMEOUT,
  );
});
