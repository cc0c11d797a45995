import { describe, expect, test } from "vitest";
import { clientFactories } from "../../../tests/support/openai-clients.ts";
import {
  codeInterpreterCall,
  message,
  startWireServer,
  type WireScript,
} from "../../../tests/support/wire-server.ts";
import { type OpenAIModelConfig, toModelFields } from "../model-config.ts";
import { collectPrintedOutput, runPython } from "./run-python.ts";

const ran = codeInterpreterCall("print(1)", ["1\n"]);

describe.each(clientFactories)("runPython() with %s", (_, createClient) => {
  async function run(script: WireScript, modelConfig: OpenAIModelConfig = {}) {
    await using server = await startWireServer(script);
    const { signal } = new AbortController();
    const outcome = await runPython(
      {
        client: createClient(server.url),
        model: "gpt-5.2",
        modelConfig,
        modelFields: toModelFields(modelConfig),
        timeoutMs: 1_000,
      },
      { containerId: "cntr_1", code: "print(1)", signal },
    ).catch((error: unknown) => ({ error }));
    return { outcome, body: server.requests[0]?.body };
  }

  test("sends one short request that forces the code interpreter", async () => {
    const config = {
      ...{ temperature: 0.1, maxOutputTokens: 7, maxToolCalls: 1, store: false },
      extraBody: { service_tier: "flex" },
    };
    const { outcome, body } = await run([[ran, message("done")]], config);
    expect(outcome).toMatchObject({ output: "1\n", usage: { inputTokens: 10, outputTokens: 5 } });
    expect(body).toEqual({
      ...{ model: "gpt-5.2", temperature: 0.1, store: false, service_tier: "flex" },
      input: [
        {
          type: "message",
          role: "user",
          content:
            'Run this Python code once, unmodified, and then say "done".\n\n```python\nprint(1)\n```',
        },
      ],
      tools: [{ type: "code_interpreter", container: "cntr_1" }],
      tool_choice: { type: "code_interpreter" },
      include: ["code_interpreter_call.outputs"],
    });
  });

  test("returns an empty output if the code printed nothing", async () => {
    const { outcome } = await run([[message("done")]]);
    expect(outcome).toMatchObject({ output: "" });
  });

  test("throws for a lost container, even in a 200 response", async () => {
    const error = { code: "server_error", message: "Container is expired." };
    const { outcome } = await run([{ output: [], error }]);
    expect(outcome).toMatchObject({
      error: { name: "OpenAIRequestError", message: "The response failed: Container is expired." },
    });
  });

  test("throws an OpenAIRequestError for a rejected request", async () => {
    const rejection = { status: 400, error: { message: "No such model.", type: "x" } };
    const { outcome } = await run([rejection]);
    expect(outcome).toMatchObject({ error: { name: "OpenAIRequestError", status: 400 } });
    expect(String(Object(outcome).error)).toContain("POST /responses failed with status 400");
  });
});

test("collectPrintedOutput() joins the logs of all code interpreter calls", () => {
  const call = (...logs: readonly string[]) => ({
    type: "code_interpreter_call",
    outputs: logs.map((text) => ({ type: "logs", logs: text })),
  });
  expect(
    collectPrintedOutput([
      call("a", "b"),
      message("no"),
      call("c"),
      { type: "code_interpreter_call" },
    ]),
  ).toBe("a\nb\nc");
  expect(collectPrintedOutput(null)).toBe("");
});
