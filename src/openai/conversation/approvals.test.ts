import { expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { createTaskPrompt, lookTool, runScript } from "../../../tests/support/openai-run.ts";
import { reopenSession } from "../../../tests/support/resume/reopen-session.ts";
import { functionCall, message } from "../../../tests/support/wire-server.ts";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { type ShellExecutor, shellTool } from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";

const action = { commands: ["deploy"], timeout_ms: null, max_output_length: null };
const shellItem = {
  type: "shell_call",
  id: "sh_1",
  call_id: "call_x",
  status: "completed",
  action,
  environment: { type: "local" },
};
const patchItem = {
  type: "apply_patch_call",
  id: "apc_1",
  call_id: "call_x",
  status: "completed",
  operation: { type: "create_file", path: "a.txt", diff: "+a\n" },
};
const mcpItem = {
  type: "mcp_approval_request",
  id: "call_x",
  server_label: "dice",
  name: "roll",
  arguments: "{}",
};

/** Creates the tools that run, or let the server run, a call after its approval; and a count of their runs. */
function createTools() {
  const commands: string[] = [];
  const executor: ShellExecutor = {
    run: async (all) => {
      commands.push(...all);
      return all.map(() => ({ stdout: "ok", stderr: "", outcome: { type: "exit", exitCode: 0 } }));
    },
  };
  const filesystem = new InMemoryFilesystem();
  const needsApproval = true;
  const tools: Readonly<Record<string, HostedTool>> = {
    shell: shellTool({ environment: { type: "local" } }, { executor, needsApproval }),
    apply_patch: applyPatchTool({}, { filesystem, needsApproval }),
    mcp: mcpTool({ serverLabel: "dice", serverUrl: "https://dice.example/mcp" }),
  };
  return { tools, commands, filesystem };
}

const cases = [
  ["shell", shellItem, { commands: ["deploy"] }, { type: "shell_call_output" }],
  ["apply_patch", patchItem, { operation: "create", path: "a.txt" }, { status: "completed" }],
  ["mcp", mcpItem, { name: "roll" }, { type: "mcp_approval_response", approve: true }],
] as const;

test.each(cases)(
  "a parked call of kind %s runs once after another process resumes with its approval",
  async (kind, item, params, answer) => {
    const { tools, commands, filesystem } = createTools();
    const hostedTools = Object.values(tools).filter((tool) => tool.kind === kind);
    const prompt = createTaskPrompt({ tools: [lookTool], hostedTools });
    const store = new MemorySessionStore();
    const first = await runScript([[item, functionCall("look", {}, "call_y")]], {
      prompt,
      evaluate: { session: await reopenSession(store), approve: async () => "park" },
    });
    if (!(first.error instanceof EvaluationParkedError)) throw first.error;
    expect(first.error.approvals).toMatchObject([{ name: hostedTools[0]?.name, params }]);
    expect([commands, await filesystem.exists("a.txt")]).toEqual([[], false]);

    const approvals = Object.fromEntries(
      first.error.approvals.map(({ key }) => [key, "approve" as const]),
    );
    const second = await runScript([[message("Done.")]], {
      prompt,
      evaluate: { session: await reopenSession(store), resume: true, approvals },
    });
    expect(second.response?.text).toBe("Done.");
    const input = JSON.parse(JSON.stringify(second.bodies[0])).input;
    expect(input).toContainEqual(expect.objectContaining(answer));
    expect(input).toContainEqual(
      expect.objectContaining({ type: "function_call_output", call_id: "call_y" }),
    );
    if (kind === "shell") expect(commands).toEqual(["deploy"]);
    if (kind === "apply_patch") expect(await filesystem.readText("a.txt")).toBe("a\n");
  },
);

test.each([
  ["shell", shellItem, { type: "shell_call_output" }],
  ["apply_patch", patchItem, { type: "apply_patch_call_output", status: "failed" }],
  ["mcp", mcpItem, { type: "mcp_approval_response", approve: false }],
] as const)("a denied call of kind %s is answered without running", async (kind, item, answer) => {
  const { tools, commands, filesystem } = createTools();
  const hostedTools = Object.values(tools).filter((tool) => tool.kind === kind);
  const { response, bodies } = await runScript([[item], [message("Done.")]], {
    prompt: createTaskPrompt({ hostedTools }),
    evaluate: { approve: async () => "deny" },
  });
  expect(response?.text).toBe("Done.");
  expect([commands, await filesystem.exists("a.txt")]).toEqual([[], false]);
  const { input } = JSON.parse(JSON.stringify(bodies[1]));
  expect(input).toContainEqual(expect.objectContaining(answer));
  expect(JSON.stringify(input)).toContain("The call was not made: it was denied.");
});
