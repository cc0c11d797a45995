import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  applyPatchTool,
  codeInterpreterTool,
  fileSearchTool,
  shellTool,
  webSearchTool,
} from "weakincentives";
import { readRecords, readString } from "../../src/base/json.ts";
import { createLocalFixture, createPrompt } from "../support/claude/claude-fixture.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const listToolNames = (body: Readonly<Record<string, unknown>> | undefined) =>
  readRecords(body ?? {}, "tools").map((tool) => readString(tool, "name"));

describe.skipIf(sdkMissing)("Hosted tools on the real SDK", () => {
  test(
    "run as native tools and are reported under their own names and kinds",
    async () => {
      const fixture = await createLocalFixture([
        [
          {
            patch: [
              { type: "create_file", path: "new.txt", diff: "+one\n" },
              { type: "update_file", path: "a.txt", diff: "@@\n-two\n+three\n" },
            ],
          },
        ],
        [{ code: "print(open('a.txt').read())" }, { say: "Done." }],
      ]);
      const workspace = fixture.createWorkspace({ "a.txt": "two\n" });
      const hostedTools = [
        applyPatchTool({}, { name: "patcher" }),
        codeInterpreterTool({}, { name: "python" }),
      ];
      await fixture.run(createPrompt({ hostedTools }, [workspace]));
      expect(
        fixture.bus
          .of("ToolInvoked")
          .map(({ name, origin, result }) => [name, origin?.capability, result.success]),
      ).toEqual([
        ["patcher", "apply_patch", true],
        ["claude_read", "claude_read", true],
        ["patcher", "apply_patch", true],
        ["python", "code_interpreter", true],
      ]);
      expect(fixture.bus.of("ToolInvoked").at(-1)?.result.message).toBe("three");
      const files = ["new.txt", "a.txt"].map((name) =>
        readFileSync(join(workspace.tempDir, name), "utf8"),
      );
      expect(files).toEqual(["one\n", "three\n"]);
      expect(listToolNames(fixture.requests[0]?.body).toSorted()).toEqual([
        "Bash",
        "Edit",
        "Glob",
        "Grep",
        "Read",
        "Write",
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "are rejected before the SDK starts if unsupported, or omitted with an event",
    async () => {
      const fixture = await createLocalFixture([[{ say: "Done." }]]);
      const search = fileSearchTool({ vectorStoreIds: ["vs_1"] });
      const prompt = createPrompt({ hostedTools: [search, shellTool()] });
      const error = await fixture.runToError(prompt);
      expect(error.message).toBe(
        'Hosted tool "file_search" kind must be a kind that Claude supports, got ' +
          '"file_search". Mount the files with a ClaudeAgentWorkspaceSection, or write a Tool that ' +
          "searches them; the Claude Agent SDK has no vector stores.",
      );
      expect(fixture.requests).toEqual([]);
      await fixture.run(prompt, { adapter: { unsupportedHostedTools: "omit" } });
      expect(fixture.bus.of("HostedToolOmitted")).toMatchObject([
        { name: "file_search", kind: "file_search", adapter: "claude", reason: error.message },
      ]);
      expect(listToolNames(fixture.requests[0]?.body)).toEqual(["Bash"]);
    },
    SDK_TIMEOUT,
  );

  test(
    "can be disallowed completely, or except for some",
    async () => {
      const fixture = await createLocalFixture([[{ say: "Done." }], [{ say: "Done." }]]);
      const hostedTools = [shellTool(), webSearchTool()];
      const prompt = createPrompt({ hostedTools }, [fixture.createWorkspace({ "a.txt": "" })]);
      await fixture.run(prompt, { evaluate: { allowHostedTools: false } });
      await fixture.run(prompt, { evaluate: { allowHostedTools: ["web_search", "claude_read"] } });
      const offered = fixture.requests.map(({ body }) => listToolNames(body).toSorted());
      expect(offered).toEqual([[], ["Read", "WebSearch"]]);
      expect(fixture.bus.of("HostedToolOmitted")).toHaveLength(7 + 5);
    },
    SDK_TIMEOUT,
  );
});
