import { describe, expect, test } from "vitest";
import { madeClients } from "../../../tests/support/openai-clients.ts";
import {
  codeInterpreterCall,
  message,
  type WireScript,
  wireServer,
} from "../../../tests/support/wire-server.ts";
import { modelFields, type OpenAIModelConfig } from "../model-config.ts";
import { printedIn, runPython } from "./python-runner.ts";

const ran = codeInterpreterCall("print(1)", ["1\n"]);

describe.each(madeClients)("a block of Python, by %s,", (_, make) => {
  async function run(script: WireScript, modelConfig: OpenAIModelConfig = {}) {
    await using server = await wireServer(script);
    const { signal } = new AbortController();
    const outcome = await runPython(
      {
        client: make(server.url),
        model: "gpt-5.2",
        modelConfig,
        modelFields: modelFields(modelConfig),
        timeoutMs: 1_000,
      },
      { containerId: "cntr_1", code: "print(1)", signal },
    ).catch((error: unknown) => ({ error }));
    return { outcome, body: server.requests[0]?.body };
  }

  test("is one short request that leaves the model nothing else to do", async () => {
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
            'Run this Python code once, exactly as it is, and then say "done".\n\n```python\nprint(1)\n```',
        },
      ],
      tools: [{ type: "code_interpreter", container: "cntr_1" }],
      tool_choice: { type: "code_interpreter" },
      include: ["code_interpreter_call.outputs"],
    });
  });

  test("that printed nothing has printed nothing", async () => {
    const { outcome } = await run([[message("done")]]);
    expect(outcome).toMatchObject({ output: "" });
  });

  test("whose container is gone is an error, in an answer as well", async () => {
    const error = { code: "server_error", message: "Container is expired." };
    const { outcome } = await run([{ output: [], error }]);
    expect(outcome).toMatchObject({
      error: { name: "OpenAIRequestError", message: "The response failed: Container is expired." },
    });
  });

  test("that is refused is an error that says by whom", async () => {
    const refusal = { status: 400, error: { message: "No such model.", type: "x" } };
    const { outcome } = await run([refusal]);
    expect(outcome).toMatchObject({ error: { name: "OpenAIRequestError", status: 400 } });
    expect(String(Object(outcome).error)).toContain("POST /responses failed with status 400");
  });
});

test("all that code printed is what its calls say, and nothing else", () => {
  const call = (...logs: readonly string[]) => ({
    type: "code_interpreter_call",
    outputs: logs.map((text) => ({ type: "logs", logs: text })),
  });
  expect(
    printedIn([call("a", "b"), message("no"), call("c"), { type: "code_interpreter_call" }]),
  ).toBe("a\nb\nc");
  expect(printedIn(null)).toBe("");
});
