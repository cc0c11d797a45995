import { describe, expect, test, vi } from "vitest";
import {
  codeInterpreterTool,
  type HostedTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import {
  OpenAIAdapter,
  OpenAICodeInterpreterSection,
  OpenAICodeInterpreterTool,
} from "weakincentives/openai";
import { startProviderFixture } from "../support/local/provider-fixture.ts";
import { clients, testKey } from "../support/openai-clients.ts";
import { startExample } from "../support/specs/example-run.ts";
import { hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

vi.setConfig({ testTimeout: 60_000 });

const createPrompt = (...hostedTools: readonly HostedTool[]) => {
  const section = new MarkdownSection({ key: "t", title: "Task", template: "Run.", hostedTools });
  return new Prompt(new PromptTemplate({ ns: "t", key: "t", sections: [section] }));
};
const advice = "Code may run for at most 1 second per call.";
const timedOut = { exitCode: null, calls: [{ status: "failed" }] };
/** Longer than a test may take, so that only a timeout ends it. */
const slow = "kept = 1\nimport time\ntime.sleep(600)";

describe.skipIf(!hasBubblewrap).each(clients)("timeoutSeconds, over %s", (_, reach) => {
  test("ends a run that takes longer, and the container survives", async () => {
    const script = [[{ code: slow }], [{ code: "print(kept)" }], [{ say: "Done." }]];
    const on = await startExample(reach, { script });
    const tool = codeInterpreterTool({ timeoutSeconds: 1 });
    const { response, bodies } = await on.run(createPrompt(tool));
    expect(response.hostedCalls).toMatchObject([
      { success: false, output: timedOut },
      { success: true, output: { stdout: "1\n" } },
    ]);
    expect(bodies).toMatchObject([
      {
        input: [{ role: "system", content: `## 1. Task (t)\n\nRun.\n\n${advice}` }],
        tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      },
    ]);
  });
});

describe.skipIf(!hasBubblewrap)("timeoutSeconds", () => {
  test.each([
    ["a section", [new OpenAICodeInterpreterSection({ defaultParams: { timeoutSeconds: 1 } })], []],
    ["a tool with hooks", [], [new OpenAICodeInterpreterTool({ timeoutSeconds: 1 })]],
  ] as const)("of %s ends a run in process too", async (_, more, tools) => {
    const model = scriptedModel([[{ code: slow }], [{ say: "Done." }]]);
    const provider = new LocalProvider({ model, sandbox: "bubblewrap" });
    try {
      const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch: provider.fetch } });
      const task = new MarkdownSection({ key: "t", title: "Task", template: "Run.", tools });
      const template = new PromptTemplate({ ns: "t", key: "t", sections: [task, ...more] });
      const response = await adapter.evaluate(new Prompt(template), { session: new Session() });
      expect(response.hostedOutputs.get("code_interpreter")).toMatchObject(timedOut);
    } finally {
      await provider[Symbol.asyncDispose]();
    }
  });

  test("never exceeds the provider's own limit", async () => {
    const script = [[{ code: slow }], [{ say: "Done." }]];
    const provider = { limits: { runTimeoutMs: 500 } };
    const reach = (baseURL: string) => ({ clientConfig: { apiKey: testKey, baseURL } });
    const on = await startExample(reach, { script, provider });
    const { response } = await on.run(createPrompt(codeInterpreterTool({ timeoutSeconds: 500 })));
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject(timedOut);
  });

  test("can be sent by any client as a header, and applies to code only", async () => {
    const { ask } = await startProviderFixture(
      [[{ code: slow }, { shell: ["sleep 2; echo slept"] }], [{ say: "Done." }]],
      { sandbox: "bubblewrap" },
    );
    const tools = [
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "shell", environment: { type: "container_auto" } },
    ];
    const include = ["code_interpreter_call.outputs"];
    const body = { model: "any", input: "Run.", tools, include };
    const answer = await ask("POST /responses", body, { "x-wink-code-timeout-seconds": "1" });
    expect(answer.body["output"]).toMatchObject([
      { type: "code_interpreter_call", status: "failed" },
      { type: "shell_call" },
      { type: "shell_call_output", output: [{ stdout: "slept\n", outcome: { exit_code: 0 } }] },
      { type: "message" },
    ]);
  });
});

test.each(["0", "-1", "1.5", "soon", "1e3", ""])(
  "The header x-wink-code-timeout-seconds with the value %j is rejected",
  async (value) => {
    const { ask } = await startProviderFixture([]);
    const body = { model: "any", input: "Hi." };
    const answer = await ask("POST /responses", body, { "x-wink-code-timeout-seconds": value });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_request_error", code: "invalid_value" } },
    });
    expect(JSON.stringify(answer.body)).toContain("must be an integer of at least 1");
  },
);
