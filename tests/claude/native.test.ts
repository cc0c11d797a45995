import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shellTool, Tool, ToolResult } from "weakincentives";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { lastTold, promptOf, wireStage } from "../support/claude/stage.ts";

const bash = (command: string) => use("Bash", { command });
const noted: string[] = [];

/** Writes its one argument down. */
const note = new Tool({
  name: "note",
  description: "Notes.",
  params: null,
  handler: () => {
    noted.push("note");
    return ToolResult.ok(null, "Noted.");
  },
});

const ours = () => use("mcp__wink__note", {});

describe.skipIf(sdkMissing)("The SDK's own tools", () => {
  test(
    "are hosted calls with name, params, result and origin, and their order is the model's",
    async () => {
      const stage = await wireStage([
        { content: [use("Write", { file_path: "new.txt", content: "one owl\n" })] },
        {
          content: [
            use("Read", { file_path: "a.txt" }),
            use("Edit", { file_path: "a.txt", old_string: "two", new_string: "three" }),
          ],
        },
        {
          content: [
            use("Glob", { pattern: "**/*.txt" }),
            use("Grep", { pattern: "owls", output_mode: "content" }),
          ],
        },
        { content: [bash("cat a.txt"), say("Wait.")] },
        { content: [say("Done.")] },
      ]);
      const workspace = stage.workspace({ "a.txt": "two owls\n", "sub/b.txt": "" });
      const response = await stage.run(promptOf({ hostedTools: [shellTool()] }, [workspace]));
      expect(response.text).toBe("Done.");
      const folder = workspace.tempDir;
      const calls = stage.bus.of("ToolInvoked");
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
      expect(stage.bus.of("TurnCompleted").map(({ hostedCalls }) => hostedCalls.length)).toEqual([
        1, 2, 2, 1, 0,
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "and ours run one after the other in any mixture, each told once",
    async () => {
      noted.length = 0;
      const stage = await wireStage([
        { content: [ours(), bash("echo 1")] },
        { content: [bash("echo 2"), ours()] },
        { content: [bash("echo 3"), bash("echo 4")] },
        { content: [ours(), ours(), bash("echo 5")] },
        { content: [say("Done.")] },
      ]);
      const prompt = promptOf({ tools: [note], hostedTools: [shellTool()] }, [stage.workspace()]);
      const response = await stage.run(prompt);
      expect(stage.bus.of("ToolInvoked").map(({ result }) => result.message)).toEqual([
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
      expect(noted).toHaveLength(4);
      expect(response.hostedCalls).toHaveLength(5);
      expect(stage.requests).toHaveLength(5);
      expect(stage.bus.of("TurnCompleted")).toHaveLength(5);
    },
    SDK_TIMEOUT,
  );

  test(
    "may fail or be denied, and calls of what is not there are told so: the model goes on",
    async () => {
      const told: string[] = [];
      const steps = [
        [bash("echo no >&2; exit 3")],
        [use("Read", { file_path: "/etc/passwd" })],
        [bash("ln -s /etc link")],
        [use("Read", { file_path: "link/passwd" })],
        [use("Write", { file_path: "../out.txt", content: "x" })],
        [use("Bash", { command: "sleep 1", run_in_background: true })],
        [use("Bash", { command: "ls", dangerouslyDisableSandbox: true })],
        [use("WebFetch", { url: "http://127.0.0.1:1/", prompt: "x" })],
        [use("mcp__wink__nothing", {})],
        [use("Nothing", {}), ours()],
      ];
      const stage = await wireStage((request, number) => {
        told.push(lastTold({ requests: [request] }));
        const content = steps[number - 1] ?? [say("Done.")];
        return { content };
      });
      const workspace = stage.workspace();
      const prompt = promptOf({ tools: [note], hostedTools: [shellTool()] }, [workspace]);
      const response = await stage.run(prompt);
      expect(response.text).toBe("Done.");
      const results = stage.bus.of("ToolInvoked").map(({ name, result, origin }) => {
        return [name, result.success, result.message, origin ? "provider" : "here"];
      });
      const folder = workspace.tempDir;
      const notOpen = (path: string) => `may not leave the working folder, as "${path}" would`;
      expect(results).toEqual([
        ["shell", false, "Exit code 3\nno", "provider"],
        ["claude_read", false, `Read ${notOpen("/etc/passwd")}`, "provider"],
        ["shell", true, "Ran and printed nothing", "provider"],
        ["claude_read", false, `Read ${notOpen(`${folder}/link/passwd`)}`, "provider"],
        ["claude_write", false, `Write ${notOpen(join(folder, "../out.txt"))}`, "provider"],
        ["shell", false, expect.stringContaining("run_in_background"), "provider"],
        ["shell", false, expect.stringContaining("dangerouslyDisableSandbox"), "provider"],
        ["WebFetch", false, expect.stringContaining("no tool"), "here"],
        ["nothing", false, expect.stringContaining("no tool"), "here"],
        ["Nothing", false, expect.stringContaining("no tool"), "here"],
        ["note", true, "Noted.", "here"],
      ]);
      expect(told.slice(8)).toEqual(
        ["WebFetch", "nothing", "Nothing"].map((name) =>
          expect.stringContaining(
            `There is no tool named \\"${name}\\". Available tools: \\"note\\".`,
          ),
        ),
      );
      expect(stage.requests.at(-1)?.text).not.toContain("hasn't heard from you");
      expect(existsSync(join(folder, "../out.txt"))).toBe(false);
    },
    SDK_TIMEOUT,
  );

  test(
    "may print more than the model reads at once: it reads the rest where the SDK has put it",
    async () => {
      const stage = await wireStage((request, number) => {
        if (number === 1) return { content: [bash("seq 1 30000")] };
        const path = /saved to: (\S+?\.txt)/.exec(lastTold({ requests: [request] }))?.[1];
        if (number > 2) return { content: [say("Done.")] };
        return { content: [use("Read", { file_path: path, offset: 29_990 })] };
      });
      await stage.run(promptOf({ hostedTools: [shellTool()] }, [stage.workspace()]));
      const [printed, read] = stage.bus.of("ToolInvoked").map(({ result }) => result);
      expect(printed?.message).toMatch(/^1\n2\n.*more characters\)$/s);
      expect(printed?.message.length).toBeLessThan(10_100);
      expect(read).toMatchObject({ success: true });
      expect(lastTold(stage)).toContain("29999");
    },
    SDK_TIMEOUT,
  );
});
