import { expect, onTestFinished } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Session, ToolResult } from "weakincentives";
import { LocalProvider, type LocalProviderOptions, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAICodeInterpreterTool } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import { createCheckedFetch } from "./checked-fetch.ts";

/** How one piece of code must end. */
export interface CodeEnding {
  readonly code: string;
  readonly exitCode: number | null;
  /** @default "completed" */
  readonly status?: string;
  /** A part of stderr; `""` if stderr must be empty. @default "" */
  readonly stderr?: string;
  /** A part of stdout. @default stderr */
  readonly stdout?: string;
}

/** Code for every way in which code ends, on any sandbox. All of it runs in one container. */
export const codeEndings: readonly CodeEnding[] = [
  { code: "print(1)", exitCode: 0, stdout: "1\n" },
  { code: "1/0", exitCode: 1, stderr: "ZeroDivisionError: division by zero" },
  { code: "import sys\nsys.exit(3)", exitCode: 3, stderr: "SystemExit: 3" },
  { code: "sys.exit()", exitCode: 0 },
  { code: "sys.exit(0)", exitCode: 0 },
  { code: "sys.exit('no such file')", exitCode: 1, stderr: "SystemExit: no such file" },
  { code: "if :", exitCode: 1, stderr: "SyntaxError: invalid syntax" },
  { code: "def f():\nreturn 1", exitCode: 1, stderr: "IndentationError: " },
  { code: "raise KeyboardInterrupt", exitCode: 1, stderr: "KeyboardInterrupt" },
  {
    code: "raise ValueError('first\\n\\nsecond: third\\n  fourth')",
    exitCode: 1,
    stderr: "ValueError: first\n\nsecond: third\n  fourth",
  },
  {
    code: "class Odd(Exception): pass\ntry:\n  1/0\nexcept ZeroDivisionError as cause:\n  raise Odd from cause",
    exitCode: 1,
    stderr: "The above exception was the direct cause of the following exception:",
  },
  {
    code: "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
    exitCode: 1,
    stderr: "ExceptionGroup: two (2 sub-exceptions)",
  },
  { code: "def f(): f()\nf()", exitCode: 1, stderr: "RecursionError: maximum recursion" },
  { code: "print('x' * 2000000)\n1/0", exitCode: 1, stderr: "ZeroDivisionError", stdout: "xxx" },
  {
    code: "print('out')\nprint('err', file=sys.stderr)\nopen('/no')",
    exitCode: 1,
    stderr: "FileNotFoundError",
  },
  {
    code: "import traceback\ntry:\n  1/0\nexcept ZeroDivisionError:\n  traceback.print_exc()\nprint('recovered')",
    exitCode: 0,
    stdout: "ZeroDivisionError: division by zero\nrecovered\n",
  },
  {
    code: "try:\n  1/0\nexcept ZeroDivisionError:\n  traceback.print_exc()",
    exitCode: 1,
    stderr: "ZeroDivisionError: division by zero",
  },
];

/**
 * Runs all code in one response, and expects every report of it to agree: the hook, `ToolInvoked`,
 * `hostedCalls` and `hostedOutputs`.
 */
export async function expectEndings(
  endings: readonly CodeEnding[],
  options: LocalProviderOptions,
): Promise<void> {
  const script = [...endings.map(({ code }) => [{ code }]), [{ say: "Done." }]];
  const provider = new LocalProvider({ ...options, model: scriptedModel(script) });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { fetch, problems } = createCheckedFetch(provider.fetch);
  const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch } });
  const seen: unknown[] = [];
  const hook = new OpenAICodeInterpreterTool({
    handleProviderOutput(output) {
      seen.push(...output.calls);
      const { exitCode } = output;
      return exitCode === 0 ? ToolResult.ok(output) : ToolResult.error("It failed.", output);
    },
  });
  const bus = recordingBus();
  const section = new MarkdownSection({ key: "t", title: "T", template: "Run.", tools: [hook] });
  const template = new PromptTemplate({ ns: "t", key: "t", sections: [section] });
  const response = await adapter.evaluate(new Prompt(template), { session: new Session({ bus }) });
  expect(await problems()).toEqual([]);

  const expected = endings.map(
    ({ code, exitCode, status = "completed", stderr = "", stdout = stderr }) => ({
      code,
      exitCode,
      status,
      stderr: stderr === "" ? "" : expect.stringContaining(stderr),
      stdout: expect.stringContaining(stdout),
    }),
  );
  const success = endings.map(({ exitCode }) => exitCode === 0);
  expect(seen).toMatchObject(expected);
  const invoked = bus.of("ToolInvoked").map(({ result }) => result);
  expect(invoked.map((result) => result.success)).toEqual(success);
  expect(invoked.map(({ value }) => value)).toMatchObject(
    expected.map((call) => ({ calls: [call] })),
  );
  expect(response.hostedCalls.map((call) => call.success)).toEqual(success);
  expect(response.hostedCalls.map(({ output }) => output)).toMatchObject(
    expected.map((call) => ({ calls: [call] })),
  );
  const { code, exitCode } = endings.at(-1) ?? {};
  expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ code, exitCode });
}
