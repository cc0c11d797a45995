import { describe, expect, test } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import {
  createTaskPrompt,
  lookTool,
  runScript,
  systemMessage,
} from "../../../tests/support/openai-run.ts";
import {
  applyPatchCall,
  functionCall,
  mcpApprovalRequest,
  mcpCall,
  message,
  reasoning,
  shellCall,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { type ShellExecutor, shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";

const executor: ShellExecutor = {
  run: async (commands) =>
    commands.map((command) => ({
      stdout: `ran ${command}`,
      stderr: "",
      outcome: command === "hang" ? { type: "timeout" } : { type: "exit", exitCode: 0 },
    })),
};

const sliceLastInput = (body: Readonly<Record<string, unknown>> | undefined, count: number) =>
  Object(body?.["input"]).slice(-count);

describe.each(clients)("calls that the host runs, on %s", (_, client) => {
  test("applies a patch locally and sends its output to the model", async () => {
    const filesystem = new InMemoryFilesystem();
    await filesystem.writeText("a.txt", "one\ntwo\n");
    const tool = applyPatchTool({}, { filesystem });
    const diff = "@@\n-two\n+three\n";
    const operation = { type: "update_file", path: "a.txt", diff };
    const call = { ...applyPatchCall(operation), call_id: "call_1" };
    const { response, bodies, bus } = await runScript(
      [[reasoning("rs_1"), call], [message("Patched.")]],
      { prompt: createTaskPrompt({ hostedTools: [tool] }), client },
    );
    expect(await filesystem.readText("a.txt")).toBe("one\nthree\n");
    expect(bodies[1]?.["input"]).toMatchObject([
      systemMessage,
      { type: "reasoning", id: "rs_1" },
      { type: "apply_patch_call", call_id: "call_1" },
      { type: "apply_patch_call_output", call_id: "call_1", status: "completed" },
    ]);
    expect(response?.hostedOutputs.get(tool)?.calls).toMatchObject([
      { callId: "call_1", operation: "update", path: "a.txt", success: true },
    ]);
    const [event] = bus.of("ToolInvoked");
    expect(event).toMatchObject({ name: "apply_patch", result: { success: true } });
    expect(event).not.toHaveProperty("origin");
  });

  test("changes nothing for a rejected patch and sends the reason to the model", async () => {
    const filesystem = new InMemoryFilesystem();
    const tool = applyPatchTool({}, { filesystem });
    const operation = { type: "update_file", path: "../secret", diff: "@@\n-a\n+b\n" };
    const { bodies, bus } = await runScript([[applyPatchCall(operation)], [message("Sorry.")]], {
      prompt: createTaskPrompt({ hostedTools: [tool] }),
      client,
    });
    expect(sliceLastInput(bodies[1], 1)).toMatchObject([
      { status: "failed", output: expect.stringContaining("secret") },
    ]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ result: { success: false } }]);
    expect(await filesystem.glob("*")).toEqual([]);
  });

  test("runs shell commands with the executor and sends their outputs", async () => {
    const tool = shellTool({ environment: { type: "local" } }, { executor });
    const call = {
      ...shellCall(["ls", "hang"]),
      call_id: "call_1",
      action: { commands: ["ls", "hang"], timeout_ms: 1000, max_output_length: 4096 },
    };
    const { bodies, response } = await runScript([[call], [message("Ran.")]], {
      prompt: createTaskPrompt({ hostedTools: [tool] }),
      client,
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "shell", environment: { type: "local" } }]);
    expect(sliceLastInput(bodies[1], 1)).toEqual([
      {
        type: "shell_call_output",
        call_id: "call_1",
        max_output_length: 4096,
        output: [
          { stdout: "ran ls", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "ran hang", stderr: "", outcome: { type: "timeout" } },
        ],
      },
    ]);
    expect(response?.hostedOutputs.get(tool)?.calls).toMatchObject([
      { callId: "call_1", commands: ["ls", "hang"] },
    ]);
  });

  test("asks the approve callback about MCP calls and sends its decisions", async () => {
    const requested: string[] = [];
    const approve = ({ name }: { readonly name: string }) => {
      requested.push(name);
      return name === "read";
    };
    const config = { serverLabel: "server", serverUrl: "https://mcp.example.com" };
    const tool = mcpTool(config, { name: "files", approve });
    const { bodies, response, bus } = await runScript(
      [
        [
          { ...mcpApprovalRequest("read", {}), id: "mcpr_1" },
          { ...mcpApprovalRequest("wipe", {}), id: "mcpr_2" },
        ],
        [mcpCall("read", {}, "text"), message("Read.")],
      ],
      { prompt: createTaskPrompt({ hostedTools: [tool] }), client },
    );
    expect(requested).toEqual(["read", "wipe"]);
    expect(sliceLastInput(bodies[1], 2)).toMatchObject([
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
      { type: "mcp_approval_response", approval_request_id: "mcpr_2", approve: false },
    ]);
    expect(response?.hostedOutputs.get(tool)?.calls).toMatchObject([{ output: "text" }]);
    expect(bus.of("ToolInvoked").map(({ callId, result }) => [callId, result.success])).toEqual([
      ["mcpr_1", true],
      ["mcpr_2", false],
      [expect.any(String), true],
    ]);
  });
});

test("MCP approval requests are rejected without an approver", async () => {
  const config = { serverLabel: "server", serverUrl: "https://mcp.example.com" };
  const { bodies } = await runScript([[mcpApprovalRequest("wipe", {})], [message("No.")]], {
    prompt: createTaskPrompt({ hostedTools: [mcpTool(config)] }),
  });
  expect(sliceLastInput(bodies[1], 1)).toMatchObject([
    { approve: false, reason: expect.stringContaining("there is no one to give it") },
  ]);
});

test("hosted outputs, function outputs and feedback are sent in one request, in order", async () => {
  const tools = [lookTool];
  const hostedTools = [
    shellTool({ environment: { type: "local" } }, { executor }),
    webSearchTool(),
  ];
  const section = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Go.",
    tools,
    hostedTools,
  });
  const feedback = [{ name: "pace", provide: () => "Mind the time." }];
  const template = new PromptTemplate({ ns: "test", key: "run", sections: [section], feedback });
  const { bodies, bus } = await runScript(
    [
      [
        functionCall("look", {}, "call_1"),
        { ...shellCall(["ls"]), call_id: "call_2" },
        webSearchCall(),
      ],
      [message("Done.")],
    ],
    { prompt: new Prompt(template) },
  );
  expect(sliceLastInput(bodies[1], 3)).toMatchObject([
    { type: "shell_call_output", call_id: "call_2" },
    {
      type: "function_call_output",
      call_id: "call_1",
      output: expect.stringMatching(/^Seen\.\s+<feedback/),
    },
    { type: "message", role: "developer", content: expect.stringContaining("Mind the time.") },
  ]);
  expect(bus.of("ToolInvoked").map(({ name }) => name)).toEqual(["web_search", "shell", "look"]);
});
