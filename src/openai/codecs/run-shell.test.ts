import { execFile } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createRealContext } from "../../../tests/support/tool-context.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import {
  type ShellConfig,
  type ShellExecutor,
  type ShellOutput,
  type ShellResult,
  type ShellRunOptions,
  shellTool,
} from "../../tools/hosted/shell.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import { shellCodec } from "./shell.ts";

/** Runs commands sequentially in a real shell. */
const realShell: ShellExecutor = {
  run: async (commands, { timeoutMs }) => {
    const outputs: ShellOutput[] = [];
    for (const command of commands) outputs.push(await runOne(command, timeoutMs ?? 0));
    return outputs;
  },
};

function runOne(command: string, timeout: number): Promise<ShellOutput> {
  return new Promise((done) => {
    execFile("sh", ["-c", command], { timeout }, (error, stdout, stderr) => {
      const exitCode = typeof error?.code === "number" ? error.code : 0;
      done({
        stdout,
        stderr,
        outcome: error?.killed ? { type: "timeout" } : { type: "exit", exitCode },
      });
    });
  });
}

const createCall = (
  call_id: string,
  commands: readonly unknown[],
  limits: object = {},
): WireItem => ({
  type: "shell_call",
  id: `sh_${call_id}`,
  call_id,
  status: "completed",
  action: { commands, ...limits },
});
const createLocalTool = (executor: ShellExecutor) =>
  shellTool({ environment: { type: "local" } }, { name: "bash", executor });
const createToolReturning = (given: unknown) =>
  createLocalTool({ run: async () => given as readonly ShellOutput[] });

/** Runs the only delegated call and returns the answer for the provider. */
async function runAndAnswer(item: WireItem, tool: HostedTool<ShellConfig, ShellResult>) {
  const [call] = shellCodec.delegatedCalls?.([item], tool) ?? [];
  if (!call) throw new Error("There is no delegated call");
  const { run, ...known } = call;
  const outcome = await call.run(await createRealContext());
  return { outcome, answer: shellCodec.answer?.({ ...known, ...outcome }, tool) };
}

describe("a local shell call", () => {
  test("is delegated if it has no output", () => {
    const open = createCall("call_2", ["pwd"], { timeout_ms: 5, max_output_length: 9 });
    const answer = { type: "shell_call_output", call_id: "call_1", output: [] };
    const found = shellCodec.delegatedCalls?.(
      [createCall("call_1", ["ls"]), open, answer],
      createLocalTool(realShell),
    );
    expect(found).toEqual([
      {
        name: "bash",
        kind: "shell",
        callId: "call_2",
        params: { commands: ["pwd"], timeoutMs: 5, maxOutputLength: 9 },
        raw: open,
        needsApproval: false,
        run: expect.any(Function),
      },
    ]);
    expect(found?.[0]?.raw).toBe(open);
  });

  test("is delegated even if its status is incomplete", () => {
    const item = { ...createCall("call_1", ["ls"]), status: "incomplete" };
    expect(shellCodec.delegatedCalls?.([item], createLocalTool(realShell))).toHaveLength(1);
  });

  test("returns its commands' output", async () => {
    const commands = ["echo out; echo err >&2", "pwd > /dev/null"];
    const item = createCall("call_1", commands);
    const outputs = [
      { stdout: "out\n", stderr: "err\n", outcome: { type: "exit", exitCode: 0 } },
      { stdout: "", stderr: "", outcome: { type: "exit", exitCode: 0 } },
    ];
    const { outcome, answer } = await runAndAnswer(item, createLocalTool(realShell));
    expect(outcome).toEqual({
      output: { calls: [{ callId: "call_1", commands, outputs }] },
      success: true,
      message: 'Ran "echo out; echo err >&2", "pwd > /dev/null"',
    });
    expect(answer).toEqual({
      type: "shell_call_output",
      call_id: "call_1",
      output: [
        { stdout: "out\n", stderr: "err\n", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } },
      ],
    });
  });

  test("fails if a command fails, and returns all output", async () => {
    const item = createCall("call_1", ["echo a", "echo no >&2; exit 3"], {
      max_output_length: 100,
    });
    const { outcome, answer } = await runAndAnswer(item, createLocalTool(realShell));
    expect(outcome).toMatchObject({
      success: false,
      message: '"echo no >&2; exit 3" exited with code 3: "no"',
      output: { calls: [{ outputs: [{ stdout: "a\n" }, { stderr: "no\n" }] }] },
    });
    expect(answer).toEqual({
      type: "shell_call_output",
      call_id: "call_1",
      max_output_length: 100,
      output: [
        { stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: "no\n", outcome: { type: "exit", exit_code: 3 } },
      ],
    });
  });

  test("reports a command that timed out", async () => {
    const item = createCall("call_1", ["sleep 60"], { timeout_ms: 50 });
    const { outcome, answer } = await runAndAnswer(item, createLocalTool(realShell));
    expect(outcome).toMatchObject({ success: false, message: '"sleep 60" timed out' });
    expect(answer).toMatchObject({
      output: [{ stdout: "", stderr: "", outcome: { type: "timeout" } }],
    });
  });

  test("passes the model's limits and the evaluation's signal to the executor", async () => {
    const seen: ShellRunOptions[] = [];
    const tool = createLocalTool({
      run: async (_, options) => {
        seen.push(options);
        return [];
      },
    });
    const context = await createRealContext();
    for (const limits of [{ timeout_ms: 7, max_output_length: 8 }, { timeout_ms: "7" }]) {
      await shellCodec.delegatedCalls?.([createCall("call_1", [], limits)], tool)[0]?.run(context);
    }
    expect(seen).toEqual([
      { timeoutMs: 7, maxOutputLength: 8, signal: context.signal },
      { timeoutMs: null, maxOutputLength: null, signal: context.signal },
    ]);
    expect(seen[0]?.signal).toBe(context.signal);
  });

  test("rethrows the executor's error", async () => {
    const error = new Error("no shell here");
    const tool = createLocalTool({ run: () => Promise.reject(error) });
    await expect(runAndAnswer(createCall("call_1", ["ls"]), tool)).rejects.toBe(error);
  });

  test("throws without an executor", async () => {
    const tool = new HostedTool<ShellConfig, ShellResult>({
      kind: "shell",
      name: "bash",
      description: "Runs.",
      config: { environment: { type: "local" } },
    });
    const running = runAndAnswer(createCall("call_1", ["ls"]), tool);
    await expect(running).rejects.toThrow(InvalidOptionError);
    await expect(running).rejects.toThrow(
      'Hosted tool "bash" executor must be a ShellExecutor if the environment is local, got undefined. Create the tool with shellTool(config, { executor }), or use a container environment.',
    );
  });

  test.each([[[]], [[1, 2, 3]], [undefined], ["x"]])(
    "throws if the executor returns %j for two commands",
    async (given) => {
      const running = runAndAnswer(createCall("call_1", ["a", "b"]), createToolReturning(given));
      await expect(running).rejects.toThrow(InvalidOptionError);
      await expect(running).rejects.toThrow(
        'Hosted tool "bash" executor.run() must return an array of 2 outputs, one for each command, got ',
      );
    },
  );

  test.each([
    [null],
    ["text"],
    [{ stdout: "", stderr: "" }],
    [{ stdout: 5, stderr: "", outcome: { type: "timeout" } }],
    [{ stdout: "", stderr: null, outcome: { type: "timeout" } }],
    [{ stdout: "", stderr: "", outcome: "timeout" }],
    [{ stdout: "", stderr: "", outcome: { type: "exit" } }],
    [{ stdout: "", stderr: "", outcome: { type: "exit", exitCode: 1.5 } }],
    [{ stdout: "", stderr: "", outcome: { type: "other", exitCode: 1 } }],
  ])("throws if the executor returns the output %j", async (output) => {
    const running = runAndAnswer(createCall("call_1", ["a"]), createToolReturning([output]));
    await expect(running).rejects.toThrow(InvalidOptionError);
    await expect(running).rejects.toThrow(
      /^Hosted tool "bash" executor\.run\(\)\[0\] must be \{ stdout, stderr, outcome \} with strings and a valid outcome, got .*\. Set outcome to /,
    );
  });
});

describe("shellCodec.answer()", () => {
  const known = { name: "bash", kind: "shell", callId: "call_1", params: {}, success: false };

  test("reports the reason for missing output for each command", () => {
    const raw = createCall("call_1", ["a", "b"], { max_output_length: 0 });
    const call = { ...known, raw, output: null, message: "It was rolled back." };
    const failed = {
      stdout: "",
      stderr: "It was rolled back.",
      outcome: { type: "exit", exit_code: 1 },
    };
    expect(shellCodec.answer?.(call, createLocalTool(realShell))).toEqual({
      type: "shell_call_output",
      call_id: "call_1",
      max_output_length: 0,
      output: [failed, failed],
    });
  });

  test("works with only the call's id", () => {
    const call = { ...known, raw: [], output: { calls: [] }, message: "" };
    expect(shellCodec.answer?.(call, createLocalTool(realShell))).toEqual({
      type: "shell_call_output",
      call_id: "call_1",
      output: [],
    });
  });

  test("truncates output to the provider's limit, at whole characters", async () => {
    const stdout = `${"x".repeat(10_485_759)}🌍`;
    const long = { stdout, stderr: "\ud83d", outcome: { type: "exit", exitCode: 0 } };
    const { answer } = await runAndAnswer(createCall("call_1", ["a"]), createToolReturning([long]));
    const [output] = (answer?.["output"] ?? []) as readonly { stdout: string; stderr: string }[];
    expect(output?.stdout.length).toBe(10_485_760);
    expect(output?.stdout.isWellFormed()).toBe(true);
    expect(output?.stderr).toBe("\ufffd");
  });
});
