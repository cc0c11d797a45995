import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";

function readItems(body: WireItem): readonly WireItem[] {
  return body["data"] as readonly WireItem[];
}

const input = [
  { role: "user", content: "Hi." },
  { role: "assistant", content: "Hello." },
  { role: "assistant", content: [{ type: "output_text", text: "Hello again." }] },
  { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
  { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output: "A bird." },
];

describe("the input items of a response", () => {
  test("have all fields that the API's document requires", async () => {
    const { ask, respond } = await startProviderFixture([[{ say: "Hi." }]]);
    const { id } = await respond({ input });
    const { body } = await ask(`GET /responses/${id}/input_items?order=asc`);
    const text = { type: "output_text", annotations: [], logprobs: [] };
    expect(readItems(body)).toMatchObject([
      { role: "user", status: "completed", content: [{ type: "input_text", text: "Hi." }] },
      { role: "assistant", status: "completed", content: [{ ...text, text: "Hello." }] },
      { role: "assistant", content: [{ ...text, text: "Hello again." }] },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { type: "function_call", status: "completed" },
      { type: "function_call_output", status: "completed" },
    ]);
    const prefixes = readItems(body).map((item) => String(item["id"]).split("_")[0]);
    expect(prefixes).toEqual(["msg", "msg", "msg", "msg", "fc", "fco"]);
  });

  test("have ids that are unique across responses and the same in every page", async () => {
    const { ask, respond } = await startProviderFixture(() => [{ say: "Hi." }]);
    const first = await respond({ input });
    const other = await respond({ input });
    const next = await respond({ input: "And?", previous_response_id: first["id"] });
    const list = async ({ id }: WireItem, query = "") => {
      const { body } = await ask(`GET /responses/${id}/input_items?order=asc${query}`);
      return readItems(body).map((item) => String(item["id"]));
    };
    const ids = await list(first);
    expect(new Set([...ids, ...(await list(other))]).size).toBe(12);
    expect((await list(next)).slice(0, 6)).toEqual(ids);
    const paged: string[] = [];
    for (let after = ""; paged.length < ids.length; after = `&after=${paged.at(-1)}`)
      paged.push(...(await list(first, `&limit=1${after}`)));
    expect(paged).toEqual(ids);
  });

  test("can be referred to by id", async () => {
    const model = { respond: async ({ text }: { readonly text: string }) => [{ say: text }] };
    const { ask, respond } = await startProviderFixture([], { model });
    const { id } = await respond({ input: "Hi." });
    const { body } = await ask(`GET /responses/${id}/input_items`);
    const reference = { type: "item_reference", id: readItems(body)[0]?.["id"] };
    expect(readAnswer(await respond({ input: [reference] }))).toBe("Hi.");
  });
});
