import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  findItem,
  readAnswer,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const sealed = ["reasoning.encrypted_content"];

describe("a stored response", () => {
  test("can be retrieved and deleted, and its input can be listed", async () => {
    const { respond, ask } = await startProviderFixture([[{ say: "One." }], [{ say: "Two." }]]);
    const first = await respond({ input: "1" });
    const second = await respond({ input: "2", previous_response_id: first["id"] });
    const at = `/responses/${second["id"]}`;
    expect((await ask(`GET ${at}`)).body).toEqual(second);
    const { body: newest } = await ask(`GET ${at}/input_items`);
    expect((newest["data"] as readonly WireItem[]).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
    const { body: page } = await ask(`GET ${at}/input_items?order=asc&limit=2`);
    expect(page).toMatchObject({ object: "list", has_more: true, data: [{ role: "user" }, {}] });
    const { body: rest } = await ask(
      `GET ${at}/input_items?order=asc&after=${page["last_id"]}&include=message.output_text.logprobs`,
    );
    expect(rest).toMatchObject({ has_more: false, data: [{ role: "user" }] });
    expect((await ask(`DELETE ${at}`)).body).toMatchObject({ id: second["id"], deleted: true });
    expect(await ask(`GET ${at}`)).toMatchObject({ status: 404 });
    expect(await ask(`DELETE ${at}`)).toMatchObject({ status: 404 });
  });

  test("cannot be canceled, because background mode is not supported", async () => {
    const { respond, ask } = await startProviderFixture([[{ say: "One." }]]);
    const { id } = await respond({ input: "1" });
    expect(await ask(`POST /responses/${id}/cancel`)).toMatchObject({ status: 400 });
    expect(await ask("POST /responses/resp_1/cancel")).toMatchObject({ status: 404 });
  });

  test("has items that can be referenced", async () => {
    const { respond } = await startProviderFixture([
      [{ think: "Hm." }, { say: "One." }],
      [{ say: "Two." }],
    ]);
    const first = await respond({ input: "1" });
    const [thought, message] = readOutput(first);
    expect(thought).not.toHaveProperty("encrypted_content");
    const input = [
      thought,
      { type: "item_reference", id: message?.["id"] },
      { role: "user", content: "2" },
    ];
    expect(readAnswer(await respond({ input }))).toBe("Two.");
  });
});

describe("a response without store", () => {
  test("cannot be retrieved, continued or referenced", async () => {
    const { respond, ask } = await startProviderFixture([[{ think: "Hm." }, { say: "One." }]]);
    const first = await respond({ input: "1", store: false });
    expect(await ask(`GET /responses/${first["id"]}`)).toMatchObject({
      status: 404,
      body: { error: { message: `Response with id '${first["id"]}' not found.` } },
    });
    const after = { model: "any", input: "2", previous_response_id: first["id"] };
    expect(await ask("POST /responses", after)).toMatchObject({ status: 400 });
    const named = { model: "any", input: [{ type: "item_reference", id: "msg_1" }] };
    expect(await ask("POST /responses", named)).toMatchObject({ status: 404 });
    const bare = { model: "any", input: readOutput(first), store: false };
    const answer = await ask("POST /responses", bare);
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).toContain("Items are not persisted when `store` is set to");
  });

  test("can be continued by sending its items with encrypted reasoning", async () => {
    const seen: (readonly object[])[] = [];
    const { respond } = await startProviderFixture((request) => {
      seen.push(request.items);
      return request.turn === 0 ? [{ think: "Hm." }, { say: "One." }] : [{ say: "Two." }];
    });
    const first = await respond({ input: "1", store: false, include: sealed });
    const { encrypted_content: text } = findItem(first, "reasoning");
    expect(text).toMatch(/^wink1-/);
    expect(text).not.toContain("Hm.");
    const input = [...readOutput(first), { role: "user", content: "2" }];
    expect(readAnswer(await respond({ input, store: false }))).toBe("Two.");
    expect(seen[1]).toMatchObject([{ type: "reasoning" }, { role: "assistant" }, { role: "user" }]);
  });

  test("is rejected with changed encrypted content", async () => {
    const { respond, ask } = await startProviderFixture([[{ think: "Hm." }, { say: "One." }]]);
    const first = await respond({ input: "1", store: false, include: sealed });
    const [thought, message] = readOutput(first);
    const text = String(thought?.["encrypted_content"]);
    const tampered = `${text.slice(0, -2)}${text.endsWith("AA") ? "BB" : "AA"}`;
    const input = [{ ...thought, encrypted_content: tampered }, message];
    expect(await ask("POST /responses", { model: "any", input, store: false })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "invalid_encrypted_content",
          param: "input[0].encrypted_content",
          message: expect.stringMatching(
            /^The encrypted content for item rs_\w+ could not be verified\. Reason: Encrypted content could not be decrypted or parsed\. .*the key that sealed it is gone.*Pass the same dataDir/,
          ),
        },
      },
    });
  });

  test("is rejected with reasoning that has no following item", async () => {
    const { respond, ask } = await startProviderFixture([[{ think: "Hm." }, { say: "One." }]]);
    const first = await respond({ input: "1", store: false, include: sealed });
    const input = readOutput(first).slice(0, 1);
    const answer = await ask("POST /responses", { model: "any", input, store: false });
    expect(JSON.stringify(answer.body)).toContain("without its required following item");
  });
});
