import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamModel } from "weakincentives/local";
import { readAnswer, readOutput, startProviderFixture } from "../support/local/provider-fixture.ts";
import {
  startUpstreamServer,
  type UpstreamServer,
  type UpstreamStep,
} from "../support/upstream-server.ts";

let server: UpstreamServer;
beforeAll(async () => {
  server = await startUpstreamServer([], { strict: true });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const look = { type: "function", name: "look", parameters: { type: "object" } };
const python = { type: "code_interpreter", container: { type: "auto" } };

function message(role: string, content: string) {
  return { type: "message", role, content };
}

describe.each(["chat", "responses"] as const)("a strict template behind the %s API", (api) => {
  const say = (content: string): UpstreamStep =>
    api === "chat"
      ? { message: { content } }
      : { output: [{ type: "message", content: [{ type: "output_text", text: content }] }] };
  const call = (name: string, args: object): UpstreamStep => {
    const called = { name, arguments: JSON.stringify(args) };
    return api === "chat"
      ? { message: { tool_calls: [{ id: "call_1", type: "function", function: called }] } }
      : { output: [{ type: "function_call", call_id: "call_1", ...called }] };
  };

  async function start(...steps: readonly UpstreamStep[]) {
    await server.play(steps);
    const model = upstreamModel({ baseURL: server.url, model: "qwen3.8", api });
    return await startProviderFixture([], { model });
  }

  test("refuses what templates refuse", async () => {
    const send = async (messages: readonly object[]) => {
      const body = JSON.stringify(api === "chat" ? { messages } : { input: messages });
      return (await fetch(`${server.url}/any`, { method: "POST", body })).status;
    };
    await server.play([say("1"), say("2"), say("3"), say("4"), say("5"), say("6")]);
    const [s, u, a] = [message("system", "A."), message("user", "B."), message("assistant", "C.")];
    expect(await send([s, u, a, u])).toBe(200);
    expect(await send([s, s, u])).toBe(400);
    expect(await send([u, a, s])).toBe(400);
    expect(await send([u, u])).toBe(400);
    expect(await send([s])).toBe(400);
    expect(await send([message("developer", "A."), u])).toBe(400);
  });

  test("accepts a prompt that has only system text", async () => {
    const { respond } = await start(say("Hello."));
    const response = await respond({
      input: [message("system", "Greet."), message("developer", "Briefly.")],
    });
    expect(readAnswer(response)).toBe("Hello.");
  });

  test("accepts instructions, system messages and two user messages", async () => {
    const { respond } = await start(say("Hello."));
    const input = [
      message("system", "A."),
      message("developer", "B."),
      message("user", "C."),
      message("user", "D."),
    ];
    expect(readAnswer(await respond({ instructions: "Be brief.", input }))).toBe("Hello.");
  });

  test("accepts a continued conversation whose prompt changes, and caches its start", async () => {
    const { respond } = await start(say("One."), say("Two."), say("Three."));
    const first = await respond({ input: [message("system", "V1."), message("user", "1?")] });
    const second = await respond({
      previous_response_id: first["id"],
      input: [message("system", "V2."), message("user", "2?")],
    });
    const third = await respond({
      previous_response_id: second["id"],
      input: [message("user", "3?"), message("developer", "Note.")],
    });
    expect(readAnswer(third)).toBe("Three.");
    const sent = (await server.requests()).map(({ body }) => Object(body));
    const starts = sent.map((body) =>
      JSON.stringify(api === "chat" ? body.messages : [body.instructions, body.input]),
    );
    for (const [place, start] of starts.slice(0, -1).entries())
      expect(starts[place + 1]?.startsWith(start.replace(/\]+$/, ""))).toBe(true);
  });

  test("accepts a note after a function's result", async () => {
    const { respond } = await start(call("look", {}), say("Owls."), say("Bye."));
    const first = await respond({ input: "Look around.", tools: [look] });
    const { call_id } = readOutput(first)[0] ?? {};
    const output = { type: "function_call_output", call_id, output: "Owls." };
    const second = await respond({
      previous_response_id: first["id"],
      input: [output, message("system", "Be brief.")],
      tools: [look],
    });
    expect(readAnswer(second)).toBe("Owls.");
    const sent = JSON.stringify((await server.requests())[1]?.body);
    expect(sent).toContain("Owls.\\n\\n<system>\\nBe brief.\\n</system>");
    const third = await respond({ previous_response_id: second["id"], input: "Bye." });
    expect(readAnswer(third)).toBe("Bye.");
  });

  test("accepts a user message after a function's result", async () => {
    const { respond } = await start(call("look", {}), say("Stopped."));
    const first = await respond({ input: "Look around.", tools: [look] });
    const { call_id } = readOutput(first)[0] ?? {};
    const output = { type: "function_call_output", call_id, output: "Owls." };
    const input = [output, message("user", "Stop.")];
    const second = await respond({ previous_response_id: first["id"], input, tools: [look] });
    expect(readAnswer(second)).toBe("Stopped.");
  });

  test("accepts hosted calls, a correction, and a note after them", async () => {
    const { respond } = await start(
      call("python", { wrong: 1 }),
      call("python", { code: "print(6 * 7)" }),
      say("42"),
      say("Yes."),
    );
    const first = await respond({ input: [message("system", "Compute.")], tools: [python] });
    expect(readAnswer(first)).toBe("42");
    const input = [message("system", "Changed."), message("user", "Sure?")];
    const second = await respond({ previous_response_id: first["id"], input, tools: [python] });
    expect(readAnswer(second)).toBe("Yes.");
  });

  test("accepts a conversation of Anthropic's API", async () => {
    const { ask } = await start(say("Hello."));
    const body = {
      model: "any",
      max_tokens: 100,
      system: "Be brief.",
      messages: [
        { role: "user", content: "Hi." },
        { role: "user", content: "Are you there?" },
      ],
    };
    const headers = { "anthropic-version": "2023-06-01", "x-api-key": "any" };
    const answer = await ask("POST /messages", body, headers);
    expect(answer).toMatchObject({ status: 200, body: { content: [{ text: "Hello." }] } });
  });
});
