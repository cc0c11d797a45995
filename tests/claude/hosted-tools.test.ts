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
import { recordsAt, textAt } from "../../src/base/reading.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { localStage, promptOf } from "../support/claude/stage.ts";

const toolNames = (body: Readonly<Record<string, unknown>> | undefined) =>
  recordsAt(body ?? {}, "tools").map((tool) => textAt(tool, "name"));

describe.skipIf(sdkMissing)("Hosted tools of a prompt on the real SDK", () => {
  test(
    "are its own tools under their names and kinds",
    async () => {
      const stage = await localStage([
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
      const workspace = stage.workspace({ "a.txt": "two\n" });
      const hostedTools = [
        applyPatchTool({}, { name: "patcher" }),
        codeInterpreterTool({}, { name: "python" }),
      ];
      await stage.run(promptOf({ hostedTools }, [workspace]));
      expect(
        stage.bus
          .of("ToolInvoked")
          .map(({ name, origin, result }) => [name, origin?.capability, result.success]),
      ).toEqual([
        ["patcher", "apply_patch", true],
        ["claude_read", "claude_read", true],
        ["patcher", "apply_patch", true],
        ["python", "code_interpreter", true],
      ]);
      expect(stage.bus.of("ToolInvoked").at(-1)?.result.message).toBe("three");
      const files = ["new.txt", "a.txt"].map((name) =>
        readFileSync(join(workspace.tempDir, name), "utf8"),
      );
      expect(files).toEqual(["one\n", "three\n"]);
      expect(toolNames(stage.requests[0]?.body).toSorted()).toEqual([
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
    "that it has nothing for are refused before anything starts, or left out with an event",
    async () => {
      const stage = await localStage([[{ say: "Done." }]]);
      const search = fileSearchTool({ vectorStoreIds: ["vs_1"] });
      const prompt = promptOf({ hostedTools: [search, shellTool()] });
      const refused = await stage.failure(prompt);
      expect(refused.message).toBe(
        'Hosted tool "file_search" kind must be one that Claude has a tool for, got ' +
          '"file_search": the Claude Agent SDK has no vector stores; mount the files by a ' +
          "ClaudeAgentWorkspaceSection, or write a Tool that searches them",
      );
      expect(stage.requests).toEqual([]);
      await stage.run(prompt, { adapter: { unsupportedHostedTools: "omit" } });
      expect(stage.bus.of("HostedToolOmitted")).toMatchObject([
        { name: "file_search", kind: "file_search", adapter: "claude", reason: refused.message },
      ]);
      expect(toolNames(stage.requests[0]?.body)).toEqual(["Bash"]);
    },
    SDK_TIMEOUT,
  );

  test(
    "may be forbidden, all of them or all but some",
    async () => {
      const stage = await localStage([[{ say: "Done." }], [{ say: "Done." }]]);
      const hostedTools = [shellTool(), webSearchTool()];
      const prompt = promptOf({ hostedTools }, [stage.workspace({ "a.txt": "" })]);
      await stage.run(prompt, { evaluate: { allowHostedTools: false } });
      await stage.run(prompt, { evaluate: { allowHostedTools: ["web_search", "claude_read"] } });
      const offered = stage.requests.map(({ body }) => toolNames(body).toSorted());
      expect(offered).toEqual([[], ["Read", "WebSearch"]]);
      expect(stage.bus.of("HostedToolOmitted")).toHaveLength(7 + 5);
    },
    SDK_TIMEOUT,
  );
});
