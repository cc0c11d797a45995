import { describe, expect, test } from "vitest";
import {
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  codeInterpreterTool,
  HostedTool,
  NativeTool,
  type ShellConfig,
  type ShellExecutor,
  type ShellResult,
  ToolResult,
  type WebSearchResult,
} from "weakincentives";
import { OpenAICodeInterpreterTool, type WireItem } from "weakincentives/openai";
import * as z from "zod";
import { combineOutputs } from "../src/adapter/calls/combine-outputs.ts";
import { createTaskPrompt, lookTool, runScript } from "./support/openai-run.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  shellCall,
  webSearchCall,
} from "./support/wire-server.ts";

/** Two calls in the first turn, a third one in the second. */
const script: readonly (readonly WireItem[])[] = [
  [codeInterpreterCall("a", ["1"]), codeInterpreterCall("b", ["2"]), functionCall("look", {})],
  [codeInterpreterCall("c", ["3"]), message("Done.")],
];

type Hook = (output: CodeInterpreterResult) => ToolResult<CodeInterpreterResult>;

const createCodeTool = (hook: Hook) =>
  new HostedTool<CodeInterpreterConfig, CodeInterpreterResult>({
    kind: "code_interpreter",
    name: "python",
    description: "Runs Python.",
    config: codeInterpreterTool().config,
    handleProviderOutput: hook,
  });

async function runCode(parts: Parameters<typeof createTaskPrompt>[0]) {
  const prompt = createTaskPrompt({ ...parts, tools: [lookTool, ...(parts?.tools ?? [])] });
  const { response, error, bus } = await runScript(script, { prompt });
  if (!response) throw error;
  return { response, events: bus.of("ToolInvoked").filter(({ name }) => name === "python") };
}

describe("hostedOutputs has every call to a tool whose hook", () => {
  let count = 0;
  test.each<readonly [string, Hook]>([
    ["returns the output", (output) => ToolResult.ok(output)],
    ["returns a shallow copy", (output) => ToolResult.ok({ ...output })],
    ["returns a deep copy", (output) => ToolResult.ok(structuredClone(output))],
    ["returns no value", () => ToolResult.ok(null as never)],
    ["returns an undefined value", () => ToolResult.ok(undefined as never)],
    ["fails", () => ToolResult.error("Not good.")],
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["returns another object", () => ToolResult.ok({ note: "seen" } as never)],
    [
      "copies every other output",
      (output) => ToolResult.ok(count++ % 2 === 0 ? output : { ...output }),
    ],
  ])("%s", async (_, hook) => {
    const tool = createCodeTool(hook);
    const { response, events } = await runCode({ hostedTools: [tool] });
    expect(response.hostedOutputs.get(tool)).toMatchObject({
      text: "Done.",
      code: "c",
      stdout: "3",
      calls: [{ code: "a" }, { code: "b" }, { code: "c" }],
    });
    expect(response.hostedCalls).toHaveLength(3);
    expect(events).toHaveLength(3);
  });

  test("changes outputs, with the changes", async () => {
    const hide = (text: string) => text.replace(/\d/, "#");
    const tool = createCodeTool((output) =>
      ToolResult.ok({
        ...output,
        stdout: hide(output.stdout),
        calls: output.calls.map((call) => ({ ...call, stdout: hide(call.stdout) })),
      }),
    );
    const { response } = await runCode({ hostedTools: [tool] });
    expect(response.hostedOutputs.get(tool)).toMatchObject({
      text: "Done.",
      stdout: "#",
      calls: [
        { code: "a", stdout: "#" },
        { code: "b", stdout: "#" },
        { code: "c", stdout: "#" },
      ],
    });
  });

  test("adds a field, with the last one", async () => {
    const tool = createCodeTool((output) =>
      ToolResult.ok({ ...output, lines: [output.code], last: output.code }),
    );
    const { response } = await runCode({ hostedTools: [tool] });
    expect(response.hostedOutputs.get(tool)).toMatchObject({
      lines: ["a", "b", "c"],
      last: "c",
      calls: [{ code: "a" }, { code: "b" }, { code: "c" }],
    });
  });
});

test("hostedOutputs repeats equal records of several calls only if they are not JSON", async () => {
  const loop: Record<string, unknown> = { name: "loop" };
  loop["self"] = loop;
  const tool = createCodeTool((output) =>
    ToolResult.ok({ ...output, sources: [{ url: "u", title: "t" }, { size: 1n }, loop] }),
  );
  const { response } = await runCode({ hostedTools: [tool] });
  const sources = Object(response.hostedOutputs.get(tool)).sources;
  expect(sources).toHaveLength(7);
  expect(sources[0]).toEqual({ url: "u", title: "t" });
});

test("hostedOutputs joins 20,000 records of many calls in linear time", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => ({ index }));
  const calls = Array.from({ length: 100 }, (_, at) => {
    const output = { hits: rows.slice(at * 200, at * 200 + 200) };
    const call = { name: "find", kind: "k", callId: `${at}`, params: {}, raw: {}, message: "" };
    return { call: { ...call, output, success: true }, declared: {}, tool: null };
  });
  const started = performance.now();
  const outputs = await combineOutputs(calls, new Map());
  expect(outputs.get("find")).toEqual({ hits: rows });
  expect(performance.now() - started).toBeLessThan(2_000);
});

test("hostedOutputs has every call to a provider tool with a hook", async () => {
  const tool = new OpenAICodeInterpreterTool({
    name: "python",
    handleProviderOutput: (output) => ToolResult.ok({ ...output }),
  });
  const { response } = await runCode({ tools: [tool] });
  expect(response.hostedOutputs.get(tool)?.calls.map(({ code }) => code)).toEqual(["a", "b", "c"]);
});

describe("hostedOutputs has every call to a native tool whose result is", () => {
  const createNativeTool = <Result extends object>(result: z.ZodType<Result>) =>
    new NativeTool({
      name: "python",
      kind: "code_interpreter",
      description: "Runs Python.",
      params: z.object({ code: z.string() }),
      result,
    });

  test("the parsed output", async () => {
    const call = z.object({ code: z.string(), stdout: z.string().transform(Number) });
    const tool = createNativeTool(z.object({ stdout: z.string(), calls: z.array(call) }));
    const { response } = await runCode({ tools: [tool] });
    expect(response.hostedOutputs.get(tool)).toEqual({
      stdout: "3",
      calls: [
        { code: "a", stdout: 1 },
        { code: "b", stdout: 2 },
        { code: "c", stdout: 3 },
      ],
    });
  });

  test("the provider's item", async () => {
    const tool = createNativeTool(z.looseObject({ type: z.string(), code: z.string() }));
    const { response } = await runCode({ tools: [tool] });
    expect(response.hostedOutputs.get(tool)).toMatchObject({
      type: "code_interpreter_call",
      code: "c",
      calls: [{ code: "a" }, { code: "b" }, { code: "c" }],
    });
  });

  test("the provider's item as payload", async () => {
    const tool = createNativeTool(z.object({ payload: z.record(z.string(), z.unknown()) }));
    const { response } = await runCode({ tools: [tool] });
    expect(response.hostedOutputs.get(tool)?.payload).toMatchObject({
      type: "code_interpreter_call",
      code: "c",
      calls: [{ code: "a" }, { code: "b" }, { code: "c" }],
    });
  });

  test("too narrow for several calls, joined", async () => {
    const tool = createNativeTool(z.object({ calls: z.tuple([z.looseObject({})]) }));
    const { response } = await runCode({ tools: [tool] });
    expect(response.hostedOutputs.get(tool)?.calls).toMatchObject([
      { code: "a" },
      { code: "b" },
      { code: "c" },
    ]);
  });
});

test("hostedOutputs has one output without merging if a tool was called once", async () => {
  const tool = createCodeTool(() => ToolResult.ok({ note: "seen" } as never));
  const { response, bus } = await runScript([[codeInterpreterCall("a"), message("Done.")]], {
    prompt: createTaskPrompt({ hostedTools: [tool] }),
  });
  expect(response?.hostedOutputs.get(tool)).toEqual({ note: "seen" });
  expect(response?.hostedCalls[0]?.output).toEqual({ note: "seen" });
  expect(bus.of("ToolInvoked")[0]?.result.value).toEqual({ note: "seen" });
});

test("the spans of earlier citations stay null if a hook changes another field", async () => {
  const url = "https://owls.example";
  const cited = { type: "url_citation", url, title: "Owls", start_index: 0, end_index: 4 };
  const tool = new HostedTool<object, WebSearchResult>({
    kind: "web_search",
    name: "web_search",
    description: "Searches.",
    config: {},
    handleProviderOutput: (output) => ToolResult.ok({ ...output, text: "hidden" }),
  });
  const { response } = await runScript(
    [
      [webSearchCall("one"), message("Owls hunt.", [cited]), functionCall("look", {})],
      [webSearchCall("two"), message("Done.", [{ ...cited, end_index: 2 }])],
    ],
    { prompt: createTaskPrompt({ tools: [lookTool], hostedTools: [tool] }) },
  );
  expect(response?.hostedOutputs.get(tool)).toMatchObject({
    text: "hidden",
    citations: [{ span: null }, { span: [0, 2] }],
    searches: [{ queries: ["one"] }, { queries: ["two"] }],
  });
});

describe("hostedOutputs has every local shell call whose hook", () => {
  const ran = { stdout: "ok\n", stderr: "", outcome: { type: "exit", exitCode: 0 } } as const;
  const createShell = (hook: (output: ShellResult) => ToolResult<ShellResult>) =>
    new HostedTool<ShellConfig, ShellResult, { executor: ShellExecutor }>({
      kind: "shell",
      name: "shell",
      description: "Runs commands.",
      config: { environment: { type: "local" } },
      live: { executor: { run: async () => [ran] } },
      handleProviderOutput: hook,
    });
  const commands = [
    [{ ...shellCall(["ls"]), call_id: "c1" }],
    [{ ...shellCall(["pwd"]), call_id: "c2" }],
    [message("Done.")],
  ];

  test("returns a copy", async () => {
    const tool = createShell((output) => ToolResult.ok(structuredClone(output)));
    const prompt = createTaskPrompt({ hostedTools: [tool] });
    const { response } = await runScript(commands, { prompt });
    expect(response?.hostedOutputs.get(tool)?.calls).toMatchObject([
      { callId: "c1", commands: ["ls"], outputs: [{ stdout: "ok\n" }] },
      { callId: "c2", commands: ["pwd"], outputs: [{ stdout: "ok\n" }] },
    ]);
  });

  test("returns another object, whose message the model reads", async () => {
    const tool = createShell(() => ToolResult.ok({ note: "seen" } as never, "Listed."));
    const prompt = createTaskPrompt({ hostedTools: [tool] });
    const { response, error, bodies } = await runScript(commands, { prompt });
    expect(error).toBeNull();
    expect(JSON.stringify(bodies[1]?.["input"])).toContain('"stdout":"Listed."');
    expect(response?.hostedOutputs.get(tool)).toMatchObject({
      note: "seen",
      calls: [{ callId: "c1" }, { callId: "c2" }],
    });
  });
});
