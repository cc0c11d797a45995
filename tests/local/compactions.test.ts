import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import { itemOf, output, said, stage } from "../support/local/stage.ts";

const user = (content: string) => ({ type: "message", role: "user", content });
const assistant = (text: string) => ({ type: "message", role: "assistant", content: text });

/** What the model reads: who says what. */
function reading(items: readonly object[]): readonly string[] {
  return items.map((item) => {
    const { role, content }: WireItem = { ...item };
    const parts: readonly WireItem[] = Array.isArray(content) ? content : [{ text: content }];
    return `${role}: ${parts.map(({ text }) => text).join("")}`;
  });
}

function readingStage() {
  return stage(({ items, text }) => [
    { say: text.startsWith("What") ? reading(items).join(" | ") : "Noted." },
  ]);
}

describe("a compaction that is asked for", () => {
  test("is what users said and one item that only the server can read", async () => {
    const { ask, respond } = await readingStage();
    const input = [user("One."), assistant("Eins."), user("Two."), assistant("Zwei.")];
    const { status, body, headers } = await ask("POST /responses/compact", { model: "any", input });
    expect(status).toBe(200);
    expect(headers.get("x-ratelimit-limit-tokens")).not.toBeNull();
    expect(body["object"]).toBe("response.compaction");
    const text = (said: string) => [{ type: "input_text", text: said }];
    expect(output(body)).toMatchObject([
      { type: "message", role: "user", content: text("One.") },
      { type: "message", role: "user", content: text("Two.") },
      { type: "compaction" },
    ]);
    expect(JSON.stringify(body)).not.toContain("Eins.");
    const next = await respond({ input: [...output(body), user("What was said?")] });
    expect(said(next)).toBe(
      "user: One. | user: Two. | assistant: Eins. | assistant: Zwei. | user: What was said?",
    );
    const chained = await ask("POST /responses/compact", {
      model: "any",
      previous_response_id: next["id"],
    });
    const again = await respond({ input: [...output(chained.body), user("What now?")] });
    expect(said(again)).toContain("assistant: Eins.");
  });

  test("is refused without a model, with keys it does not know, and when tampered with", async () => {
    const { ask } = await stage([]);
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
    const compaction = { ...itemOf(body, "compaction"), encrypted_content: "wink1-none" };
    expect(await ask("POST /responses", { model: "any", input: [compaction] })).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_encrypted_content" } },
    });
  });
});

describe("a compaction that the server makes", () => {
  const long = "Owls. ".repeat(1000);
  const context_management = [{ type: "compaction", compact_threshold: 1000 }];

  test("follows the answer when the conversation is over the threshold", async () => {
    const { respond, ask } = await readingStage();
    const short = await respond({ input: "Hi.", context_management });
    expect(output(short)).toHaveLength(1);
    const first = await respond({ input: long, context_management });
    expect(output(first).map(({ type }) => type)).toEqual(["message", "compaction"]);
    const items = await ask(`GET /responses/${first["id"]}/input_items`);
    expect(items.body["data"]).toMatchObject([{ role: "user", content: [{ text: long }] }]);
    const next = await respond({ input: "What?", previous_response_id: first["id"] });
    expect(said(next)).toBe(`user: ${long} | assistant: Noted. | user: What?`);
    const tokens = [first, next].map(({ usage }) => Number(Object(usage).input_tokens));
    expect(tokens[1]).toBeLessThan(tokens[0] ?? 0);
  });

  test("may be sent with what it stands for, or without: it is read once", async () => {
    const { respond } = await readingStage();
    const input = [{ role: "developer", content: "Be kind." }, user(long)];
    const first = await respond({ input, context_management, store: false });
    const what = `developer: Be kind. | user: ${long} | assistant: Noted. | user: What?`;
    const all = [...input, ...output(first), user("What?")];
    expect(said(await respond({ input: all, store: false }))).toBe(what);
    const last = [itemOf(first, "compaction"), user("What?")];
    expect(said(await respond({ input: last, store: false }))).toBe(what);
  });

  test("is made at once when the last item asks for it", async () => {
    const { respond, stream } = await readingStage();
    const input = [user("One."), assistant("Eins."), { type: "compaction_trigger" }];
    const response = await respond({ input });
    expect(output(response).map(({ type }) => type)).toEqual(["compaction"]);
    const next = await respond({ input: "What?", previous_response_id: response["id"] });
    expect(said(next)).toBe("user: One. | assistant: Eins. | user: What?");
    const types = (await stream({ input })).map(({ type }) => type);
    expect(types).toContain("response.output_item.done");
    expect(types.at(-1)).toBe("response.completed");
  });

  test("can be the model's own doing", async () => {
    const { respond } = await stage([[{ compact: true }]]);
    expect(output(await respond({ input: "Hi." }))).toMatchObject([{ type: "compaction" }]);
  });
});

describe("tokens", () => {
  test("are counted as they are billed", async () => {
    const { respond, ask } = await stage([[{ think: "Hm." }, { say: "Hello." }]]);
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
