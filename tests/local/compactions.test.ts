import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  findItem,
  readAnswer,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const user = (content: string) => ({ type: "message", role: "user", content });
const assistant = (text: string) => ({ type: "message", role: "assistant", content: text });

/** Returns the role and text of each message that the model reads. */
function describeMessages(items: readonly object[]): readonly string[] {
  return items.map((item) => {
    const { role, content }: WireItem = { ...item };
    const parts: readonly WireItem[] = Array.isArray(content) ? content : [{ text: content }];
    return `${role}: ${parts.map(({ text }) => text).join("")}`;
  });
}

function startReadingStage() {
  return startProviderFixture(({ items, text }) => [
    { say: text.startsWith("What") ? describeMessages(items).join(" | ") : "Noted." },
  ]);
}

describe("POST /v1/responses/compact", () => {
  test("returns the user messages and one encrypted item", async () => {
    const { ask, respond } = await startReadingStage();
    const input = [user("One."), assistant("Eins."), user("Two."), assistant("Zwei.")];
    const { status, body, headers } = await ask("POST /responses/compact", { model: "any", input });
    expect(status).toBe(200);
    expect(headers.get("x-ratelimit-limit-tokens")).not.toBeNull();
    expect(body["object"]).toBe("response.compaction");
    const text = (said: string) => [{ type: "input_text", text: said }];
    expect(readOutput(body)).toMatchObject([
      { type: "message", role: "user", content: text("One.") },
      { type: "message", role: "user", content: text("Two.") },
      { type: "compaction" },
    ]);
    expect(JSON.stringify(body)).not.toContain("Eins.");
    const next = await respond({ input: [...readOutput(body), user("What was said?")] });
    expect(readAnswer(next)).toBe(
      "user: One. | user: Two. | assistant: Eins. | assistant: Zwei. | user: What was said?",
    );
    const chained = await ask("POST /responses/compact", {
      model: "any",
      previous_response_id: next["id"],
    });
    const again = await respond({ input: [...readOutput(chained.body), user("What now?")] });
    expect(readAnswer(again)).toContain("assistant: Eins.");
  });

  test("rejects a missing model, unknown keys and changed content", async () => {
    const { ask } = await startProviderFixture([]);
    const at = "POST /responses/compact";
    expect(await ask(at, { input: "Hi." })).toMatchObject({
      status: 400,
      body: { error: { code: "missing_required_parameter", param: "model" } },
    });
    expect(await ask(at, { model: "any", input: "Hi.", store: false })).toMatchObject({
      status: 400,
      body: { error: { code: "unknown_parameter", param: "store" } },
    });
    expect(await ask(at, [])).toMatchObject({ status: 400 });
    const { body } = await ask(at, { model: "any", input: "Hi." });
    const compaction = { ...findItem(body, "compaction"), encrypted_content: "wink1-none" };
    expect(await ask("POST /responses", { model: "any", input: [compaction] })).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_encrypted_content" } },
    });
  });
});

describe("an automatic compaction", () => {
  const long = "Owls. ".repeat(1000);
  const context_management = [{ type: "compaction", compact_threshold: 1000 }];

  test("follows the answer if the conversation exceeds the threshold", async () => {
    const { respond, ask } = await startReadingStage();
    const short = await respond({ input: "Hi.", context_management });
    expect(readOutput(short)).toHaveLength(1);
    const first = await respond({ input: long, context_management });
    expect(readOutput(first).map(({ type }) => type)).toEqual(["message", "compaction"]);
    const items = await ask(`GET /responses/${first["id"]}/input_items`);
    expect(items.body["data"]).toMatchObject([{ role: "user", content: [{ text: long }] }]);
    const next = await respond({ input: "What?", previous_response_id: first["id"] });
    expect(readAnswer(next)).toBe(`user: ${long} | assistant: Noted. | user: What?`);
    const tokens = [first, next].map(({ usage }) => Number(Object(usage).input_tokens));
    expect(tokens[1]).toBeLessThan(tokens[0] ?? 0);
  });

  const tools = [{ type: "function", name: "look", parameters: null, strict: false }];
  const call = { call: { name: "look", args: {}, callId: "call_1" } };
  const answer = { type: "function_call_output", call_id: "call_1", output: "An owl." };

  test("precedes a function call, so that everything before it may be omitted", async () => {
    const { respond, stream } = await startProviderFixture(({ items }) =>
      items.every((item) => !("output" in item))
        ? [{ think: "Hm." }, call]
        : [{ say: describeMessages(items.slice(0, 1)).join() }],
    );
    const include = ["reasoning.encrypted_content"];
    const body = { input: long, tools, context_management, store: false, include };
    const first = await respond(body);
    const order = ["compaction", "reasoning", "function_call"];
    expect(readOutput(first).map(({ type }) => type)).toEqual(order);
    const streamed = (await stream(body)).filter(
      ({ type }) => type === "response.output_item.done",
    );
    expect(streamed.map(({ item, output_index: at }) => [Object(item).type, at])).toEqual(
      order.map((type, index) => [type, index]),
    );
    for (const input of [
      [...readOutput(first), answer],
      [user(long), ...readOutput(first), answer],
    ]) {
      const next = await respond({ input, tools, store: false });
      expect(readAnswer(next)).toBe(`user: ${long}`);
    }
  });

  test("follows text before a function call, and the chained turn continues after it", async () => {
    const { respond } = await startProviderFixture([
      [{ code: "print(1)" }, call],
      [{ say: "Seen." }],
    ]);
    const offered = [...tools, { type: "code_interpreter", container: { type: "auto" } }];
    const first = await respond({ input: long, tools: offered, context_management });
    const order = ["code_interpreter_call", "compaction", "function_call"];
    expect(readOutput(first).map(({ type }) => type)).toEqual(order);
    const input = [answer];
    const next = await respond({ input, tools: offered, previous_response_id: first["id"] });
    expect(readAnswer(next)).toBe("Seen.");
  });

  test("is also part of an incomplete response, but not of a failed one", async () => {
    const { respond } = await startProviderFixture([
      [{ say: "Many owls are quiet. ".repeat(100) }],
      [{ think: "Hm." }, { fail: { message: "Broken." } }],
    ]);
    const body = { input: long, context_management, max_output_tokens: 20 };
    const cut = await respond(body);
    expect(cut["status"]).toBe("incomplete");
    expect(readOutput(cut).map(({ type }) => type)).toEqual(["message", "compaction"]);
    const failed = await respond(body);
    expect(failed["status"]).toBe("failed");
    expect(readOutput(failed).map(({ type }) => type)).toEqual(["reasoning"]);
  });

  test("is read once, whether or not its items are sent too", async () => {
    const { respond } = await startReadingStage();
    const input = [{ role: "developer", content: "Be kind." }, user(long)];
    const first = await respond({ input, context_management, store: false });
    const what = `developer: Be kind. | user: ${long} | assistant: Noted. | user: What?`;
    const all = [...input, ...readOutput(first), user("What?")];
    expect(readAnswer(await respond({ input: all, store: false }))).toBe(what);
    const last = [findItem(first, "compaction"), user("What?")];
    expect(readAnswer(await respond({ input: last, store: false }))).toBe(what);
  });

  test("is created immediately if the last item requests it", async () => {
    const { respond, stream } = await startReadingStage();
    const input = [user("One."), assistant("Eins."), { type: "compaction_trigger" }];
    const response = await respond({ input });
    expect(readOutput(response).map(({ type }) => type)).toEqual(["compaction"]);
    const next = await respond({ input: "What?", previous_response_id: response["id"] });
    expect(readAnswer(next)).toBe("user: One. | assistant: Eins. | user: What?");
    const types = (await stream({ input })).map(({ type }) => type);
    expect(types).toContain("response.output_item.done");
    expect(types.at(-1)).toBe("response.completed");
  });

  test("can be an action of the model", async () => {
    const { respond } = await startProviderFixture([[{ compact: true }]]);
    expect(readOutput(await respond({ input: "Hi." }))).toMatchObject([{ type: "compaction" }]);
  });
});

describe("POST /v1/responses/input_tokens", () => {
  test("counts the same tokens as the usage", async () => {
    const { respond, ask } = await startProviderFixture([[{ think: "Hm." }, { say: "Hello." }]]);
    const body = {
      input: "How many owls?",
      instructions: "Count.",
      tools: [{ type: "web_search" }],
    };
    const counted = await ask("POST /responses/input_tokens", { model: "any", ...body });
    expect(counted.headers.get("x-ratelimit-limit-tokens")).toBeNull();
    const { usage } = await respond(body);
    const { input_tokens: input, output_tokens: given, total_tokens: total } = Object(usage);
    expect(counted.body).toEqual({ object: "response.input_tokens", input_tokens: input });
    expect(total).toBe(input + given);
    expect(Object(usage).output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    expect(await ask("POST /responses/input_tokens", { model: "any", store: true })).toMatchObject({
      status: 400,
      body: { error: { code: "unknown_parameter" } },
    });
  });
});
