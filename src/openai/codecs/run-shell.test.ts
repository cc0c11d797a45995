import { execFile } from "node:child_process";
import { describe, expect, test } from "vitest";
import { realContext } from "../../../tests/support/tool-context.ts";
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

/** Runs commands one after the other in a real shell. */
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

const asked = (call_id: string, commands: readonly unknown[], limits: object = {}): WireItem => ({
  type: "shell_call",
  id: `sh_${call_id}`,
  call_id,
  status: "completed",
  action: { commands, ...limits },
});
const localTool = (executor: ShellExecutor) =>
  shellTool({ environment: { type: "local" } }, { name: "bash", executor });
const giving = (given: unknown) => localTool({ run: async () => given as readonly ShellOutput[] });

/** Runs the only call that is asked for, and says what the provider is answered. */
async function runAndAnswer(item: WireItem, tool: HostedTool<ShellConfig, ShellResult>) {
  const [call] = shellCodec.asked?.([item], tool) ?? [];
  if (!call) throw new Error("nothing was asked");
  const { run, ...known } = call;
  const outcome = await call.run(await realContext());
  return { outcome, answer: shellCodec.answer?.({ ...known, ...outcome }, tool) };
}

describe("a call that is asked of us", () => {
  test("is one that has no output yet", () => {
    const open = asked("call_2", ["pwd"], { timeout_ms: 5, max_output_length: 9 });
    const answer = { type: "shell_call_output", call_id: "call_1", output: [] };
    const found = shellCodec.asked?.([asked("call_1", ["ls"]), open, answer], localTool(realShell));
    expect(found).toEqual([
      {
        name: "bash",
        kind: "shell",
        callId: "call_2",
        params: { commands: ["pwd"], timeoutMs: 5, maxOutputLength: 9 },
        raw: open,
        run: expect.any(Function),
      },
    ]);
    expect(found?.[0]?.raw).toBe(open);
  });

  test("is run even if it is incomplete", () => {
    const item = { ...asked("call_1", ["ls"]), status: "incomplete" };
    expect(shellCodec.asked?.([item], localTool(realShell))).toHaveLength(1);
  });

  test("gives what its commands printed", async () => {
    const commands = ["echo out; echo err >&2", "pwd > /dev/null"];
    const item = asked("call_1", commands);
    const outputs = [
      { stdout: "out\n", stderr: "err\n", outcome: { type: "exit", exitCode: 0 } },
      { stdout: "", stderr: "", outcome: { type: "exit", exitCode: 0 } },
    ];
    const { outcome, answer } = await runAndAnswer(item, localTool(realShell));
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

  test("fails if a command does, and still gives everything", async () => {
    const item = asked("call_1", ["echo a", "echo no >&2; exit 3"], { max_output_length: 100 });
    const { outcome, answer } = await runAndAnswer(item, localTool(realShell));
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

  test("tells of a command that took too long", async () => {
    const item = asked("call_1", ["sleep 60"], { timeout_ms: 50 });
    const { outcome, answer } = await runAndAnswer(item, localTool(realShell));
    expect(outcome).toMatchObject({ success: false, message: '"sleep 60" timed out' });
    expect(answer).toMatchObject({
      output: [{ stdout: "", stderr: "", outcome: { type: "timeout" } }],
    });
  });

  test("has the model's limits and the evaluation's signal", async () => {
    const seen: ShellRunOptions[] = [];
    const tool = localTool({
      run: async (_, options) => {
        seen.push(options);
        return [];
      },
    });
    const context = await realContext();
    for (const limits of [{ timeout_ms: 7, max_output_length: 8 }, { timeout_ms: "7" }]) {
      await shellCodec.asked?.([asked("call_1", [], limits)], tool)[0]?.run(context);
    }
    expect(seen).toEqual([
      { timeoutMs: 7, maxOutputLength: 8, signal: context.signal },
      { timeoutMs: null, maxOutputLength: null, signal: context.signal },
    ]);
    expect(seen[0]?.signal).toBe(context.signal);
  });

  test("passes on what an executor throws", async () => {
    const error = new Error("no shell here");
    const tool = localTool({ run: () => Promise.reject(error) });
    await expect(runAndAnswer(asked("call_1", ["ls"]), tool)).rejects.toBe(error);
  });

  test("needs an executor", async () => {
    const tool = new HostedTool<ShellConfig, ShellResult>({
      kind: "shell",
      name: "bash",
      description: "Runs.",
      config: { environment: { type: "local" } },
    });
    const running = runAndAnswer(asked("call_1", ["ls"]), tool);
    await expect(running).rejects.toThrow(InvalidOptionError);
    await expect(running).rejects.toThrow(
      'Hosted tool "bash" executor must be a ShellExecutor in a local environment, got undefined. Make the tool with shellTool(config, { executor }), or let a container run commands',
    );
  });

  test.each([[[]], [[1, 2, 3]], [undefined], ["x"]])(
    "refuses %j for two outputs",
    async (given) => {
      const running = runAndAnswer(asked("call_1", ["a", "b"]), giving(given));
      await expect(running).rejects.toThrow(InvalidOptionError);
      await expect(running).rejects.toThrow(
        'Hosted tool "bash" executor.run() must give a list of 2, one output for each command, but is',
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
  ])("refuses %j for an output", async (output) => {
    const running = runAndAnswer(asked("call_1", ["a"]), giving([output]));
    await expect(running).rejects.toThrow(InvalidOptionError);
    await expect(running).rejects.toThrow(
      /^Hosted tool "bash" executor\.run\(\)\[0\] must be \{ stdout, stderr, outcome \} with texts and the way it ended, got .*. For outcome write/,
    );
  });
});

describe("the answer", () => {
  const known = { name: "bash", kind: "shell", callId: "call_1", params: {}, success: false };

  test("says why there is no output where each command's would be", () => {
    const raw = asked("call_1", ["a", "b"], { max_output_length: 0 });
    const call = { ...known, raw, output: null, message: "It was rolled back." };
    const failed = {
      stdout: "",
      stderr: "It was rolled back.",
      outcome: { type: "exit", exit_code: 1 },
    };
    expect(shellCodec.answer?.(call, localTool(realShell))).toEqual({
      type: "shell_call_output",
      call_id: "call_1",
      max_output_length: 0,
      output: [failed, failed],
    });
  });

  test("needs no more of a call than its id", () => {
    const call = { ...known, raw: [], output: { calls: [] }, message: "" };
    expect(shellCodec.answer?.(call, localTool(realShell))).toEqual({
      type: "shell_call_output",
      call_id: "call_1",
      output: [],
    });
  });

  test("is no longer than the provider takes, and whole characters", async () => {
    const stdout = `${"x".repeat(10_485_759)}🌍`;
    const long = { stdout, stderr: "\ud83d", outcome: { type: "exit", exitCode: 0 } };
    const { answer } = await runAndAnswer(asked("call_1", ["a"]), giving([long]));
    const [output] = (answer?.["output"] ?? []) as readonly { stdout: string; stderr: string }[];
    expect(output?.stdout.length).toBe(10_485_760);
    expect(output?.stdout.isWellFormed()).toBe(true);
    expect(output?.stderr).toBe("\ufffd");
  });
});
