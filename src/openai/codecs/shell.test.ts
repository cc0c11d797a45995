import { describe, expect, test } from "vitest";
import { type ShellConfig, type ShellExecutor, shellTool } from "../../tools/hosted/shell.ts";
import type { WireItem } from "../wire.ts";
import { shellCodec } from "./shell.ts";

const executor: ShellExecutor = { run: async () => [] };
const tool = shellTool({}, { name: "bash" });
const local = shellTool({ environment: { type: "local" } }, { executor });
const serialize = (config: ShellConfig, containerId: string | null = null) =>
  shellCodec.serialize(shellTool(config), { model: "gpt-5", containerId });
const parse = (...items: WireItem[]) => shellCodec.parseOutput(items, tool);
const readCalls = (...items: WireItem[]) => shellCodec.calls?.(items, tool) ?? [];

const createCall = (call_id: string, commands: unknown, more: object = {}): WireItem => ({
  type: "shell_call",
  id: `sh_${call_id}`,
  call_id,
  status: "completed",
  action: { commands, timeout_ms: null, max_output_length: null },
  environment: { type: "container_reference", container_id: "cntr_1" },
  ...more,
});
const createExit = (exit_code: number, stdout = "", stderr = "") => ({
  stdout,
  stderr,
  outcome: { type: "exit", exit_code },
});
const createOutput = (call_id: string, ...output: unknown[]): WireItem => ({
  type: "shell_call_output",
  id: `sho_${call_id}`,
  call_id,
  status: "completed",
  max_output_length: null,
  output,
});

describe("shellCodec.serialize()", () => {
  test.each([
    [{}, { type: "container_auto" }],
    [{ environment: { type: "container" } }, { type: "container_auto" }],
    [
      {
        environment: {
          type: "container",
          memoryLimit: "16g",
          fileIds: ["file-1"],
          networkPolicy: { type: "allowlist", allowedDomains: ["a.com"] },
        },
      },
      {
        type: "container_auto",
        memory_limit: "16g",
        file_ids: ["file-1"],
        network_policy: { type: "allowlist", allowed_domains: ["a.com"] },
      },
    ],
    [
      { environment: { type: "container", containerId: "cntr_9", memoryLimit: "1g" } },
      { type: "container_reference", container_id: "cntr_9" },
    ],
  ] as const)("sends %j as its environment", (config, environment) => {
    expect(serialize(config)).toEqual({ type: "shell", environment });
  });

  test("sends a local environment", () => {
    expect(shellCodec.serialize(local, { model: "gpt-5", containerId: "cntr_1" })).toEqual({
      type: "shell",
      environment: { type: "local" },
    });
  });

  test("uses the workspace's container if the config has no environment", () => {
    expect(serialize({}, "cntr_1")).toEqual({
      type: "shell",
      environment: { type: "container_reference", container_id: "cntr_1" },
    });
    expect(serialize({ environment: { type: "container" } }, "cntr_1")).toEqual({
      type: "shell",
      environment: { type: "container_auto" },
    });
  });
});

describe("shellCodec.serialize() with needsApproval", () => {
  const rule = () => true;

  test.each([true, rule])(
    "rejects %o in a container, which the provider controls",
    (needsApproval) => {
      const asking = shellTool({}, { name: "bash", needsApproval });
      expect(() => shellCodec.serialize(asking, { model: "gpt-5", containerId: null })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          message: expect.stringMatching(
            /^Hosted tool "bash" needsApproval must be omitted in a container environment/,
          ),
        }),
      );
    },
  );

  test("accepts it in a local environment, and false in a container", () => {
    const environment = { type: "local" } as const;
    const here = shellTool({ environment }, { executor, needsApproval: rule });
    const there = shellTool({}, { needsApproval: false });
    const env = { model: "gpt-5", containerId: null };
    expect(shellCodec.serialize(here, env)).toMatchObject({ environment });
    expect(shellCodec.serialize(there, env)).toMatchObject({ type: "shell" });
  });
});

describe("shellCodec.parseOutput()", () => {
  test("returns null without calls", () => {
    expect(shellCodec.kind).toBe("shell");
    expect(parse()).toBeNull();
    expect(parse(createOutput("call_1", createExit(0)))).toBeNull();
  });

  test("matches every call with its output, in any order", () => {
    expect(
      parse(
        createCall("call_1", ["ls", "sleep 9"]),
        createCall("call_2", ["false"]),
        createOutput("call_2", createExit(1, "", "no")),
        { type: "reasoning" },
        createOutput("call_1", createExit(0, "a\n"), {
          stdout: "",
          stderr: "",
          outcome: { type: "timeout" },
        }),
      ),
    ).toEqual({
      calls: [
        {
          callId: "call_1",
          commands: ["ls", "sleep 9"],
          outputs: [
            { stdout: "a\n", stderr: "", outcome: { type: "exit", exitCode: 0 } },
            { stdout: "", stderr: "", outcome: { type: "timeout" } },
          ],
        },
        {
          callId: "call_2",
          commands: ["false"],
          outputs: [{ stdout: "", stderr: "no", outcome: { type: "exit", exitCode: 1 } }],
        },
      ],
    });
  });

  test("reads outputs of local calls the same way", () => {
    const answer = { type: "shell_call_output", call_id: "call_1", output: [createExit(0, "hi")] };
    const call = createCall("call_1", ["echo hi"], { environment: null });
    expect(shellCodec.parseOutput([call, answer], local)).toEqual({
      calls: [
        {
          callId: "call_1",
          commands: ["echo hi"],
          outputs: [{ stdout: "hi", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
        },
      ],
    });
  });

  test.each([null, "x", 5, {}])("tolerates the output %j", (output) => {
    const odd = { type: "shell_call_output", call_id: "call_1", output };
    expect(parse(createCall("call_1", ["ls"]), odd)?.calls[0]?.outputs).toEqual([]);
  });

  test("treats a missing exit code as a failure", () => {
    const outcomes = [undefined, null, "exit", { type: "exit" }, { type: "melted" }];
    const outputs = outcomes.map((outcome) => ({ outcome }));
    const read = parse(createCall("call_1", ["ls"]), createOutput("call_1", null, ...outputs));
    expect(read?.calls[0]?.outputs).toEqual(
      outcomes.map(() => ({ stdout: "", stderr: "", outcome: { type: "exit", exitCode: 1 } })),
    );
  });

  test("tolerates a call without fields", () => {
    expect(parse({ type: "shell_call" })).toEqual({
      calls: [{ callId: "", commands: [], outputs: [] }],
    });
    expect(parse(createCall("call_1", [5, "ls", null]))?.calls[0]?.commands).toEqual(["ls"]);
  });
});

describe("shellCodec.calls()", () => {
  test("returns one call per item, with its output", () => {
    const action = { commands: ["ls"], timeout_ms: 1000, max_output_length: 50 };
    const item = createCall("call_1", null, { action });
    const found = readCalls(
      item,
      createOutput("call_1", createExit(0, "a")),
      createCall("call_2", ["pwd"]),
    );
    expect(found[0]).toEqual({
      name: "bash",
      kind: "shell",
      callId: "call_1",
      params: { commands: ["ls"], timeoutMs: 1000, maxOutputLength: 50 },
      output: {
        calls: [
          {
            callId: "call_1",
            commands: ["ls"],
            outputs: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
          },
        ],
      },
      success: true,
      message: 'Ran "ls"',
      containerId: "cntr_1",
      raw: item,
    });
    expect(found[0]?.raw).toBe(item);
    expect(found[1]).toMatchObject({ callId: "call_2", params: { commands: ["pwd"] } });
    expect(Object.keys(shellCodec.params ?? {}).toSorted()).toEqual(
      Object.keys(found[0]?.params ?? {}).toSorted(),
    );
  });

  test.each([
    [[createExit(0), createExit(0)], true, 'Ran "one", "two"'],
    [
      [createExit(0), createExit(2, "", "a\nno such file\n")],
      false,
      '"two" exited with code 2: "no such file"',
    ],
    [[createExit(127), createExit(1)], false, '"one" exited with code 127'],
    [[{ outcome: { type: "timeout" } }, createExit(0)], false, '"one" timed out'],
    [[createExit(0), createExit(0), createExit(3)], false, '"a command" exited with code 3'],
  ])("summarizes the outcomes %j", (output, success, message) => {
    expect(
      readCalls(createCall("call_1", ["one", "two"]), createOutput("call_1", ...output)),
    ).toEqual([expect.objectContaining({ success, message })]);
  });

  test("reports a call without output as a failure", () => {
    const failure = expect.objectContaining({
      success: false,
      message: "The provider returned no output",
    });
    expect(readCalls(createCall("call_1", ["ls"]))).toEqual([failure]);
    expect(readCalls(createCall("call_1", ["ls"]), createOutput("call_1"))).toEqual([failure]);
    expect(readCalls(createCall("call_1", []))).toEqual([failure]);
    expect(readCalls(createCall("call_1", []), createOutput("call_1"))).toEqual([
      expect.objectContaining({ success: true, message: "Ran no command" }),
    ]);
  });

  test("uses the provider's container id, then the config's, then none", () => {
    const item = createCall("call_1", ["ls"], { environment: undefined });
    const told = shellTool({ environment: { type: "container", containerId: "cntr_9" } });
    expect(shellCodec.calls?.([item], told)[0]?.containerId).toBe("cntr_9");
    expect(readCalls(item)[0]).not.toHaveProperty("containerId");
  });

  test("returns container calls, while local calls are delegated", () => {
    const item = createCall("call_1", ["ls"]);
    expect(shellCodec.delegatedCalls?.([item], tool)).toEqual([]);
    expect(shellCodec.calls?.([item], local)).toEqual([]);
    expect(shellCodec.delegatedCalls?.([item], local)).toHaveLength(1);
  });
});
