import { Agent, OpenAIResponsesWSModel, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelScript } from "weakincentives/local";
import { fakeClock } from "weakincentives/testing";
import { z } from "zod";
import { startProviderFixture } from "../support/local/provider-fixture.ts";

async function createClient(script: ModelScript, apiKey = "sk-owl") {
  const { url } = await startProviderFixture(script, { apiKey: "sk-owl" });
  return { client: new OpenAI({ apiKey, baseURL: url }) };
}

/** Reads events of the SDK until the end of a response. Throws the SDK's errors. */
async function readCompleted(socket: ResponsesWS) {
  const types: string[] = [];
  for await (const event of socket) {
    if (event.type === "error") throw event.error;
    if (event.type === "close") throw new Error(`The connection closed: ${event.reason}`);
    if (event.type !== "message") continue;
    types.push(event.message.type);
    if (event.message.type === "response.completed")
      return { response: event.message.response, types };
  }
  throw new Error("The connection closed.");
}

describe("the OpenAI SDK's ResponsesWS", () => {
  test("creates and continues responses that are not stored", async () => {
    const { client } = await createClient([
      [{ call: { name: "look", args: { at: "barn" }, callId: "call_1" } }],
      [{ say: "Twelve owls." }],
    ]);
    const socket = new ResponsesWS(client);
    onTestFinished(() => socket.close());
    const look = { type: "function", name: "look", parameters: null, strict: false } as const;
    const request = { type: "response.create", model: "gpt-5.2", store: false, tools: [look] };
    socket.send({ ...request, type: "response.create", input: "How many owls?" });
    const first = await readCompleted(socket);
    expect(first.types).toContain("response.function_call_arguments.done");
    socket.send({
      ...request,
      type: "response.create",
      previous_response_id: first.response.id,
      input: [{ type: "function_call_output", call_id: "call_1", output: "12" }],
    });
    const second = await readCompleted(socket);
    expect(second.response.output).toMatchObject([{ content: [{ text: "Twelve owls." }] }]);
  });

  test("runs conversations in parallel and forks one", async () => {
    const { client } = await createClient(({ text }) => [{ say: `${text}!` }]);
    const socket = new ResponsesWS(client);
    onTestFinished(() => socket.close());
    const events = socket.stream();
    const latest = new Map<string, string>();
    const create = (stream_id: string, input: string, previous_response_id: string | null) =>
      socket.send({
        type: "response.create",
        model: "gpt-5.2",
        store: false,
        stream_id,
        input,
        previous_response_id,
      });
    const waitFor = async (type: ResponsesServerEvent["type"], ...lanes: string[]) => {
      const left = new Set(lanes);
      while (left.size > 0) {
        const { value } = await events.next();
        if (value?.type === "error") throw value.error;
        if (value?.type !== "message" || value.message.type !== type) continue;
        const { message } = value;
        const lane = "stream_id" in message ? String(message.stream_id) : "";
        left.delete(lane);
        if (message.type === "response.completed") latest.set(lane, message.response.id);
      }
    };
    create("planner", "Plan", null);
    create("research", "Risks", null);
    await waitFor("response.completed", "planner", "research");
    const planner = latest.get("planner") ?? null;
    create("critic", "Gaps", planner);
    await waitFor("response.in_progress", "critic");
    create("planner", "Steps", planner);
    await waitFor("response.completed", "critic", "planner");
    expect(latest.size).toBe(3);
  });

  test("throws the error of a request that fails", async () => {
    const { client } = await createClient([]);
    const socket = new ResponsesWS(client);
    onTestFinished(() => socket.close());
    const previous_response_id = "resp_lost";
    socket.send({ type: "response.create", model: "m", input: "Owl.", previous_response_id });
    await expect(readCompleted(socket)).rejects.toThrow(
      "Previous response with id 'resp_lost' not found.",
    );
  });

  test("reports a wrong key as a failed connection", async () => {
    const { client } = await createClient([], "sk-elk");
    const socket = new ResponsesWS(client);
    onTestFinished(() => socket.close());
    await expect(readCompleted(socket)).rejects.toThrow("401");
  });

  test("reconnects after 60 minutes", async () => {
    const clock = fakeClock();
    const { url } = await startProviderFixture([[{ say: "Owl." }]], { clock });
    const client = new OpenAI({ apiKey: "any", baseURL: url });
    const socket = new ResponsesWS(client, {
      reconnect: { initialDelay: 1, onReconnecting: () => {} },
    });
    onTestFinished(() => socket.close());
    const errors: string[] = [];
    socket.on("error", ({ message }) => errors.push(message));
    const before = clock.sleeping;
    await expect.poll(() => clock.sleeping).toBe(before + 1);
    await clock.advance(60 * 60_000);
    await expect.poll(() => clock.sleeping).toBe(before + 1);
    expect(errors).toEqual([expect.stringContaining("limit reached (60 minutes)")]);
    socket.send({ type: "response.create", model: "m", input: "Owl." });
    const { response } = await readCompleted(socket);
    expect(response.output).toMatchObject([{ content: [{ text: "Owl." }] }]);
  });
});

describe("the OpenAI Agents SDK over WebSocket", () => {
  test.each([true, false])("runs tools with stream: %s", async (stream) => {
    const { client } = await createClient([
      [{ call: { name: "look", args: { at: "barn" } } }],
      [{ say: "Twelve owls." }],
    ]);
    const asked: unknown[] = [];
    const look = tool({
      name: "look",
      description: "Looks.",
      parameters: z.object({ at: z.string() }),
      execute: (args) => {
        asked.push(args);
        return "Twelve.";
      },
    });
    const model = new OpenAIResponsesWSModel(client, "gpt-5.2");
    onTestFinished(() => model.close());
    const agent = new Agent({ name: "Owls", instructions: "Count.", model, tools: [look] });
    const runner = new Runner({ tracingDisabled: true });
    if (!stream) expect((await runner.run(agent, "Owls?")).finalOutput).toBe("Twelve owls.");
    else {
      const result = await runner.run(agent, "Owls?", { stream: true });
      for await (const _ of result);
      expect(result.finalOutput).toBe("Twelve owls.");
    }
    expect(asked).toEqual([{ at: "barn" }]);
  });

  test("continues with previous_response_id", async () => {
    const { client } = await createClient(({ items }) => [{ say: String(items.length) }]);
    const model = new OpenAIResponsesWSModel(client, "gpt-5.2");
    onTestFinished(() => model.close());
    const agent = new Agent({ name: "Owls", model });
    const runner = new Runner({ tracingDisabled: true });
    const { lastResponseId: previousResponseId = "" } = await runner.run(agent, "One.");
    const second = await runner.run(agent, "Two.", { previousResponseId });
    expect(second.finalOutput).toBe("3");
  });
});
