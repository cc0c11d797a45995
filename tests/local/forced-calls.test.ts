import { describe, expect, test } from "vitest";
import { PromptEvaluationError, Session, ThrottleError } from "weakincentives";
import { echoModel, LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { dice, roll, startProvider } from "../support/local/own-tools-provider.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";
import { createTaskPrompt, lookTool } from "../support/openai-run.ts";

const look = { type: "function", name: "look", parameters: { type: "object", properties: {} } };
const write = { type: "custom", name: "write" };
const python = { type: "code_interpreter", container: { type: "auto" } };
const tools = [look, write, python];
const call = { call: { name: "look", args: {} } };

describe("a script that answers with text where the request forces a call", () => {
  test.each<[unknown, string]>([
    ["required", 'tool_choice is "required", which forces a call of a tool.'],
    [{ type: "function", name: "look" }, 'which forces a call of the function "look".'],
    [{ type: "custom", name: "write" }, 'which forces a call of the tool "write".'],
    [{ type: "code_interpreter" }, 'which forces a call of the tool "code_interpreter".'],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "look" }] },
      "which forces a call of one of the allowed tools.",
    ],
  ])("fails with an error that names what %j forces", async (tool_choice, forced) => {
    const script = [[{ think: "Hm." }, { say: "No." }], [{ say: "All is well." }]];
    const { ask } = await startProviderFixture(script);
    for (const stream of [false, true]) {
      const body = { model: "any", input: "Hi.", tools, tool_choice, stream };
      const answer = await ask("POST /responses", body);
      expect(answer.headers.get("x-should-retry")).toBe("false");
      const { message } = Object(answer.body["error"]);
      expect(message).toMatch(
        /^Step 1 failed: the model answered with text, but the request's tool_choice is /,
      );
      expect(message).toContain(`${forced} Call it in this step, or change the tool_choice.`);
    }
  });

  test("fails after a step that only thinks", async () => {
    const { ask } = await startProviderFixture([[{ think: "Hm." }], [{ say: "No." }]]);
    const body = { model: "any", input: "Hi.", tools, tool_choice: "required" };
    const { message } = Object((await ask("POST /responses", body)).body["error"]);
    expect(message).toMatch(/^Step 2 failed: the model answered with text/);
  });

  test("fails an evaluation with toolChoice, without a retry", async () => {
    const model = scriptedModel([[{ say: "No." }], [{ say: "All is well." }]]);
    const provider = new LocalProvider({ model });
    const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch: provider.fetch } });
    const prompt = createTaskPrompt({ tools: [lookTool] });
    for (const toolChoice of ["required", { type: "function", name: "look" }] as const) {
      const session = new Session();
      const failed = await adapter
        .evaluate(prompt, { session, toolChoice })
        .catch((error) => error);
      expect(failed).toBeInstanceOf(PromptEvaluationError);
      expect(failed).not.toBeInstanceOf(ThrottleError);
      expect(failed.message).toContain("Step 1 failed: the model answered with text");
    }
    await provider[Symbol.asyncDispose]();
  });
});

describe("a forced call", () => {
  test.each<[string, unknown, readonly (readonly ModelAction[])[]]>([
    ["a function", "required", [[{ say: "I look." }, call]]],
    [
      "a hosted tool, with the answer in the same step",
      "required",
      [[{ code: "1" }, { say: "." }]],
    ],
    [
      "a hosted tool, with the answer in the next step",
      "required",
      [[{ code: "1" }], [{ say: "." }]],
    ],
    ["the named function", { type: "function", name: "look" }, [[call]]],
    ["nothing, with a refusal", "required", [[{ refuse: "No." }]]],
  ])("is made by %s", async (_, tool_choice, script) => {
    const { respond } = await startProviderFixture(script);
    const response = await respond({ input: "Hi.", tools, tool_choice });
    expect(response["status"]).toBe("completed");
  });

  test("is made by a custom tool of the named kind", async () => {
    const { respond } = await startProvider([dice], [[roll], [{ say: "Six." }]]);
    const all = [...tools, { type: "dice" }];
    const response = await respond({ input: "Hi.", tools: all, tool_choice: { type: "dice" } });
    expect(response["status"]).toBe("completed");
  });

  test("is not required of a response that fails on purpose", async () => {
    const { respond } = await startProviderFixture([[{ fail: { message: "Oh." } }, { say: "." }]]);
    const response = await respond({ input: "Hi.", tools, tool_choice: "required" });
    expect(response).toMatchObject({ status: "failed", error: { message: "Oh." } });
  });

  test("is optional with allowed_tools in the mode auto", async () => {
    const { respond } = await startProviderFixture([[{ say: "No." }]]);
    const allowed = { type: "allowed_tools", mode: "auto", tools: [{ type: "code_interpreter" }] };
    const response = await respond({ input: "Hi.", tools, tool_choice: allowed });
    expect(response["status"]).toBe("completed");
  });

  test("is optional for a model that may ignore it", async () => {
    const model = { mayIgnoreToolChoice: true, respond: async () => [{ say: "No." }] };
    for (const one of [model, echoModel()]) {
      const { respond } = await startProviderFixture([], { model: one });
      const unrun = [{ type: "local_shell" }];
      const response = await respond({ input: "Hi.", tools: unrun, tool_choice: "required" });
      expect(response["status"]).toBe("completed");
    }
  });
});
