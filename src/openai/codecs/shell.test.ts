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
const calls = (...items: WireItem[]) => shellCodec.calls?.(items, tool) ?? [];

const asked = (call_id: string, commands: unknown, more: object = {}): WireItem => ({
  type: "shell_call",
  id: `sh_${call_id}`,
  call_id,
  status: "completed",
  action: { commands, timeout_ms: null, max_output_length: null },
  environment: { type: "container_reference", container_id: "cntr_1" },
  ...more,
});
const exit = (exit_code: number, stdout = "", stderr = "") => ({
  stdout,
  stderr,
  outcome: { type: "exit", exit_code },
});
const given = (call_id: string, ...output: unknown[]): WireItem => ({
  type: "shell_call_output",
  id: `sho_${call_id}`,
  call_id,
  status: "completed",
  max_output_length: null,
  output,
});

describe("serialize", () => {
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

  test("sends a local environment as that", () => {
    expect(shellCodec.serialize(local, { model: "gpt-5", containerId: "cntr_1" })).toEqual({
      type: "shell",
      environment: { type: "local" },
    });
  });

  test("uses the workspace's container where the config names no environment", () => {
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

describe("parseOutput", () => {
  test("is null where no command was asked for", () => {
    expect(shellCodec.kind).toBe("shell");
    expect(parse()).toBeNull();
    expect(parse(given("call_1", exit(0)))).toBeNull();
  });

  test("has every call with its own output, wherever that stands", () => {
    expect(
      parse(
        asked("call_1", ["ls", "sleep 9"]),
        asked("call_2", ["false"]),
        given("call_2", exit(1, "", "no")),
        { type: "reasoning" },
        given("call_1", exit(0, "a\n"), { stdout: "", stderr: "", outcome: { type: "timeout" } }),
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

  test("reads our own answers to a local environment's calls the same way", () => {
    const answer = { type: "shell_call_output", call_id: "call_1", output: [exit(0, "hi")] };
    const call = asked("call_1", ["echo hi"], { environment: null });
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

  test.each([null, "x", 5, {}])("bears an output that is %j", (output) => {
    const odd = { type: "shell_call_output", call_id: "call_1", output };
    expect(parse(asked("call_1", ["ls"]), odd)?.calls[0]?.outputs).toEqual([]);
  });

  test("takes an end of which nothing is said for a failure", () => {
    const outcomes = [undefined, null, "exit", { type: "exit" }, { type: "melted" }];
    const outputs = outcomes.map((outcome) => ({ outcome }));
    const read = parse(asked("call_1", ["ls"]), given("call_1", null, ...outputs));
    expect(read?.calls[0]?.outputs).toEqual(
      outcomes.map(() => ({ stdout: "", stderr: "", outcome: { type: "exit", exitCode: 1 } })),
    );
  });

  test("bears a call without any field", () => {
    expect(parse({ type: "shell_call" })).toEqual({
      calls: [{ callId: "", commands: [], outputs: [] }],
    });
    expect(parse(asked("call_1", [5, "ls", null]))?.calls[0]?.commands).toEqual(["ls"]);
  });
});

describe("calls in a container", () => {
  test("are one for each item, with its output", () => {
    const action = { commands: ["ls"], timeout_ms: 1000, max_output_length: 50 };
    const item = asked("call_1", null, { action });
    const found = calls(item, given("call_1", exit(0, "a")), asked("call_2", ["pwd"]));
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
    [[exit(0), exit(0)], true, 'Ran "one", "two"'],
    [
      [exit(0), exit(2, "", "a\nno such file\n")],
      false,
      '"two" exited with code 2: "no such file"',
    ],
    [[exit(127), exit(1)], false, '"one" exited with code 127'],
    [[{ outcome: { type: "timeout" } }, exit(0)], false, '"one" timed out'],
    [[exit(0), exit(0), exit(3)], false, '"a command" exited with code 3'],
  ])("tell how the commands ended: %j", (output, success, message) => {
    expect(calls(asked("call_1", ["one", "two"]), given("call_1", ...output))).toEqual([
      expect.objectContaining({ success, message }),
    ]);
  });

  test("without any output are a failure", () => {
    const failure = expect.objectContaining({ success: false, message: "No output came back" });
    expect(calls(asked("call_1", ["ls"]))).toEqual([failure]);
    expect(calls(asked("call_1", ["ls"]), given("call_1"))).toEqual([failure]);
    expect(calls(asked("call_1", []))).toEqual([failure]);
    expect(calls(asked("call_1", []), given("call_1"))).toEqual([
      expect.objectContaining({ success: true, message: "Ran no command" }),
    ]);
  });

  test("ran where the provider says, else where the tool was told to, else nobody knows", () => {
    const item = asked("call_1", ["ls"], { environment: undefined });
    const told = shellTool({ environment: { type: "container", containerId: "cntr_9" } });
    expect(shellCodec.calls?.([item], told)[0]?.containerId).toBe("cntr_9");
    expect(calls(item)[0]).not.toHaveProperty("containerId");
  });

  test("are never asked of us, and in a local environment they all are", () => {
    const item = asked("call_1", ["ls"]);
    expect(shellCodec.asked?.([item], tool)).toEqual([]);
    expect(shellCodec.calls?.([item], local)).toEqual([]);
    expect(shellCodec.asked?.([item], local)).toHaveLength(1);
  });
});
