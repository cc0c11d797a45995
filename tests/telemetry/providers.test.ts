import { describe, expect, onTestFinished, test } from "vitest";
import {
  type HostedTool as AnyHostedTool,
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  codeInterpreterTool,
  definePrompt,
  fileSearchTool,
  HostedTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  type ShellExecutor,
  shellTool,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { createLocalFixture, createPrompt } from "../support/claude/claude-fixture.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { testKey } from "../support/openai-clients.ts";
import { createTaskPrompt, lookTool, runScript } from "../support/openai-run.ts";
import {
  createTraceFixture,
  formatTree,
  toMicroseconds,
} from "../support/telemetry/trace-fixture.ts";
import {
  codeInterpreterCall,
  fileSearchCall,
  functionCall,
  message,
  webSearchCall,
} from "../support/wire-server.ts";

describe("OpenAI's API", () => {
  test("has spans for requests, local calls and hosted calls, and no key in them", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session, { captureContent: true });
    const hosted = fixture.tracer;
    const python = new HostedTool<CodeInterpreterConfig, CodeInterpreterResult>({
      kind: "code_interpreter",
      name: "python",
      description: "Runs Python.",
      config: codeInterpreterTool().config,
      handleProviderOutput: (output) => {
        hosted.startSpan("my hook").end();
        return ToolResult.ok(output);
      },
    });
    const hostedTools: AnyHostedTool[] = [
      webSearchTool(),
      fileSearchTool({ vectorStoreIds: ["vs_1"] }),
      python,
    ];
    const { response, error } = await runScript(
      [
        [webSearchCall("owls"), codeInterpreterCall("1 + 1", ["2"]), functionCall("look", {})],
        [fileSearchCall(["owls"], []), message("Done.")],
      ],
      { prompt: createTaskPrompt({ tools: [lookTool], hostedTools }), evaluate: { session } },
    );
    expect(error).toBeNull();
    expect(response?.text).toBe("Done.");
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:run",
      "  chat gpt-5.2",
      "    execute_tool web_search",
      "    execute_tool python",
      "      my hook",
      "  execute_tool look",
      "  chat gpt-5.2",
      "    execute_tool file_search",
    ]);
    const chat = fixture.findSpan("chat gpt-5.2");
    expect(chat.attributes).toMatchObject({
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5.2",
      "gen_ai.response.model": "gpt-5.2",
      "gen_ai.response.id": expect.any(String),
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
    });
    const search = fixture.findSpan("execute_tool web_search");
    expect(search.startTime).toEqual(chat.startTime);
    const types = ["web_search", "python", "file_search", "look"].map(
      (name) => fixture.findSpan(`execute_tool ${name}`).attributes["gen_ai.tool.type"],
    );
    expect(types).toEqual(["extension", "extension", "datastore", "function"]);
    const all = fixture.listSpans().map(({ attributes, events }) => ({ attributes, events }));
    expect(JSON.stringify(all)).not.toContain(testKey);
  });

  test("has one span for a request that is retried", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const busy = { status: 503, error: { message: "Busy" } };
    const { error } = await runScript([busy, busy, [message("Done.")]], { evaluate: { session } });
    expect(error).toBeNull();
    expect(formatTree(fixture.listSpans())).toEqual(["invoke_agent test:run", "  chat gpt-5.2"]);
  });

  test("has the tokens of compactions once: before a turn, and after the last one", async () => {
    const fixture = createTraceFixture();
    const bus = recordingBus();
    const session = new Session({ bus });
    fixture.instrument(session);
    const count = new Tool({
      name: "count",
      description: "Counts.",
      params: z.object({ kind: z.string() }),
      handler: ({ kind }) => ToolResult.ok({ kind }),
    });
    const kind = "x".repeat(4_000);
    const model = scriptedModel([
      [{ call: { name: "count", args: { kind } } }],
      [{ call: { name: "count", args: { kind } } }],
      [{ say: kind.repeat(10) }],
    ]);
    const provider = new LocalProvider({ model });
    onTestFinished(() => provider.close());
    const clientConfig = { apiKey: "local", fetch: provider.fetch.bind(provider) };
    const compaction = { thresholdTokens: 1_500, strategy: "endpoint" } as const;
    const adapter = new OpenAIAdapter({ model: "local", clientConfig, compaction });
    const prompt = definePrompt({ name: "test:long", instructions: "Count.", tools: [count] });
    const { usage } = await adapter.evaluate(prompt, { session });
    const order = bus.events
      .map(({ type }) => type)
      .filter((type) => /^(?:ContextCompacted|TurnCompleted|PromptExecuted)$/.test(type));
    expect(order.slice(0, -2)).toContain("ContextCompacted");
    expect(order.slice(-2)).toEqual(["ContextCompacted", "PromptExecuted"]);
    const { attributes } = fixture.findSpan("invoke_agent test:long");
    expect(attributes["gen_ai.usage.input_tokens"]).toBe(usage.inputTokens);
    expect(attributes["gen_ai.usage.output_tokens"]).toBe(usage.outputTokens);
  });

  test("has the commands that it delegates as local calls, on the local provider", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const executor: ShellExecutor = {
      run: async (commands) => {
        fixture.tracer.startSpan("spawn").end();
        return commands.map(() => ({
          ...{ stdout: "up", stderr: "" },
          outcome: { type: "exit", exitCode: 0 },
        }));
      },
    };
    const hostedTools = [shellTool({ environment: { type: "local" } }, { executor })];
    const section = new MarkdownSection({ key: "t", title: "T", template: "Go.", hostedTools });
    const template = new PromptTemplate({ ns: "test", key: "ops", sections: [section] });
    const model = scriptedModel([[{ shell: ["uptime"] }], [{ say: "Done." }]]);
    const provider = new LocalProvider({ model });
    onTestFinished(() => provider.close());
    const clientConfig = { apiKey: "local", fetch: provider.fetch.bind(provider) };
    const adapter = new OpenAIAdapter({ model: "local", clientConfig });
    await adapter.evaluate(new Prompt(template), { session });
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:ops",
      "  chat local",
      "  execute_tool shell",
      "    spawn",
      "  chat local",
    ]);
    const { attributes } = fixture.findSpan("execute_tool shell");
    expect(attributes["gen_ai.tool.type"]).toBe("function");
  });
});

describe.skipIf(sdkMissing)("Claude", () => {
  test(
    "has spans for requests, local calls and the SDK's own calls",
    async () => {
      const fixture = createTraceFixture();
      const run = await createLocalFixture([
        [{ call: { name: "mcp__wink__look", args: {} } }],
        [{ call: { name: "Bash", args: { command: "echo hi" } } }],
        [{ say: "Done." }],
      ]);
      fixture.instrument(run.session);
      const prompt = createPrompt({ tools: [lookTool], hostedTools: [shellTool()] });
      const response = await run.run(prompt, { adapter: { model: "claude-test" } });
      expect(response.text).toBe("Done.");
      expect(formatTree(fixture.listSpans())).toEqual([
        "invoke_agent test:run",
        "  chat claude-test",
        "  execute_tool look",
        "  chat claude-test",
        "    execute_tool shell",
        "  chat claude-test",
      ]);
      const chat = fixture.findSpan("chat claude-test");
      expect(chat.attributes).toMatchObject({
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-test",
      });
      const shell = fixture.findSpan("execute_tool shell");
      expect(toMicroseconds(shell.endTime)).toBeGreaterThan(toMicroseconds(shell.startTime));
      expect(shell.attributes["gen_ai.tool.type"]).toBe("extension");
    },
    SDK_TIMEOUT,
  );
});
