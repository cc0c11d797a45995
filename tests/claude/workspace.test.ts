import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { codeInterpreterTool, Tool, ToolResult } from "weakincentives";
import { OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import {
  createLocalFixture,
  createPrompt,
  readLastMessage,
} from "../support/claude/claude-fixture.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { filesIn } from "../support/files-in.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

describe.skipIf(sdkMissing)("A workspace on the real SDK", () => {
  test(
    "is shared by commands and the prompt's tools, and is synced completely",
    async () => {
      const seen: string[] = [];
      const look = new Tool({
        name: "look",
        description: "Reads what the model wrote, and answers in a file.",
        params: null,
        handler: async (_params, { filesystem }) => {
          if (!filesystem) return ToolResult.error("There is no workspace.");
          seen.push(await filesystem.readText("notes/new.txt"));
          seen.push(...(await filesystem.listDir(".")));
          await filesystem.writeText("notes/answer.txt", "from our tool\n");
          return ToolResult.ok(null, "Seen.");
        },
      });
      const code = [
        "import os",
        "print(open('a.txt').read().strip(), sorted(n for n in os.listdir('.') if n[0] != '.'))",
        "open('a.txt', 'a').write('more\\n')",
        "os.makedirs('notes')",
        "open('notes/new.txt', 'w').write('from python')",
        "os.remove('sub/b.txt')",
      ].join("\n");
      const fixture = await createLocalFixture([
        [{ code }],
        [{ call: { name: "look", args: {} } }],
        [{ code: "print(open('notes/answer.txt').read())" }],
        [{ say: "Done." }],
      ]);
      const syncDestination = temporaryTree({ "keep.txt": "mine" });
      const files = { "a.txt": "first\n", "sub/b.txt": "second\n", "sub/c.txt": "third\n" };
      const workspace = fixture.createWorkspace(files, { syncOnCleanup: true, syncDestination });
      const prompt = createPrompt({ tools: [look], hostedTools: [codeInterpreterTool()] }, [
        workspace,
      ]);
      const response = await fixture.run(prompt);
      expect(response.text).toBe("Done.");
      expect(seen).toEqual(["from python", "a.txt", "notes", "sub"]);
      expect(readLastMessage(fixture)).toContain("from our tool");
      const [first] = fixture.bus.of("ToolInvoked");
      expect(first?.result.message).toBe("first ['a.txt', 'sub']");
      const folder = workspace.tempDir;
      const report = await workspace.cleanup();
      expect(report).toMatchObject({
        directory: syncDestination,
        added: ["notes/answer.txt", "notes/new.txt"],
        changed: ["a.txt"],
        deleted: ["sub/b.txt"],
        failed: [],
      });
      expect(filesIn(syncDestination)).toEqual({
        "keep.txt": "mine",
        "a.txt": "first\nmore\n",
        "notes/answer.txt": "from our tool\n",
        "notes/new.txt": "from python",
        "sub/c.txt": "third\n",
      });
      expect(fixture.bus.of("WorkspaceSynced")).toMatchObject([
        { adapter: "claude", directory: syncDestination, changed: ["a.txt"], failed: [] },
      ]);
      expect(existsSync(folder)).toBe(false);
    },
    SDK_TIMEOUT,
  );

  test(
    "is rejected before the SDK starts if there are two, or if it is another adapter's",
    async () => {
      const fixture = await createLocalFixture([[{ say: "Not requested." }]]);
      const two = createPrompt({}, [
        fixture.createWorkspace({}, { key: "one" }),
        fixture.createWorkspace({}, { key: "two" }),
      ]);
      const error = await fixture.runToError(two);
      expect(error.message).toBe(
        "Prompt workspaces must be at most one, because the SDK works in one folder, got " +
          '["one","two"]. Move all mounts to one section.',
      );
      expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
      const { session } = fixture;
      const other = await fixture.runToError(
        createPrompt({}, [
          new OpenAIContainerWorkspaceSection({ session, allowedHostRoots: "any" }),
        ]),
      );
      expect(other.message).toBe(
        'Section "workspace" provider must be "claude" for this adapter, got "openai". ' +
          "Use this adapter's own section in its place, which takes the same options.",
      );
      expect(fixture.requests).toEqual([]);
      expect(fixture.bus.types()).toEqual([]);
    },
    SDK_TIMEOUT,
  );
});
