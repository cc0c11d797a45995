import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { parseEvents } from "../support/local/checked-fetch.ts";
import { type ProviderFixture, startProviderFixture } from "../support/local/provider-fixture.ts";

async function retrieve({ ask }: ProviderFixture, id: unknown, query = "") {
  const { status, headers, body } = await ask(`GET /responses/${id}?stream=true${query}`);
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  expect(headers.get("x-ratelimit-limit-requests")).toBeNull();
  return parseEvents(String(body["text"]));
}

const tools = [
  { type: "shell", environment: { type: "container_auto" } },
  { type: "code_interpreter", container: { type: "auto" } },
  { type: "function", name: "look", parameters: {} },
];

describe("a retrieved stream", () => {
  test("has the events and sequence numbers of the first stream", async () => {
    const fixture = await startProviderFixture([
      [{ think: "Hm." }, { code: "print(1)" }],
      [{ shell: ["echo 1"] }],
      [{ say: "One." }],
      [{ call: { name: "look", args: { at: 1 } } }],
      [{ say: "Too long. ".repeat(100) }],
      [{ think: "Hm." }, { fail: { message: "Oh." } }],
      [{ failInStream: { status: 429, code: "rate_limit_exceeded" } }],
    ]);
    const include = ["code_interpreter_call.outputs", "reasoning.encrypted_content"];
    for (const more of [{ include }, {}, { max_output_tokens: 16 }, {}, {}]) {
      const first = await fixture.stream({ input: "Hi.", tools, ...more });
      const { id } = Object(first[0]?.["response"]);
      expect(await retrieve(fixture, id)).toEqual(first);
      for (const last of [0, 4, first.length - 2])
        expect(await retrieve(fixture, id, `&starting_after=${last}`)).toEqual(
          first.slice(last + 1),
        );
      expect(await retrieve(fixture, id, `&starting_after=${first.length - 1}`)).toEqual([]);
    }
  });

  test("shows more fields if it includes them, with and without a stream", async () => {
    const fixture = await startProviderFixture([[{ code: "print(1)" }], [{ say: "One." }]]);
    const { id } = await fixture.respond({ input: "Hi.", tools });
    const include = "include[]=code_interpreter_call.outputs&include_obfuscation=false";
    const outputs = [{ type: "logs", logs: "1\n" }];
    const { body: plain } = await fixture.ask(`GET /responses/${id}?stream=false`);
    const { body: full } = await fixture.ask(`GET /responses/${id}?${include}`);
    expect(plain).toMatchObject({ output: [{ outputs: null }, {}] });
    expect(full).toMatchObject({ output: [{ outputs }, {}] });
    const events = await retrieve(fixture, id, `&${include}`);
    expect(events.at(-1)).toMatchObject({ response: { output: [{ outputs }, {}] } });
  });

  test("is needed for starting_after", async () => {
    const fixture = await startProviderFixture([[{ say: "Hello there." }]]);
    const { id } = await fixture.respond({ input: "Hi." });
    for (const query of ["starting_after=1", "starting_after=1&stream=false"]) {
      expect(await fixture.ask(`GET /responses/${id}?${query}`)).toMatchObject({
        status: 400,
        body: { error: { param: "starting_after", code: "unsupported_parameter" } },
      });
    }
  });

  test("is read by the official client", async () => {
    const { url } = await startProviderFixture([[{ say: "Hello there." }]]);
    const client = new OpenAI({ baseURL: url, apiKey: "k" });
    const { id } = await client.responses.create({ model: "any", input: "Hi." });
    const stream = await client.responses.retrieve(id, { stream: true, starting_after: 1 });
    const numbers: number[] = [];
    for await (const event of stream) numbers.push(event.sequence_number);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, place) => place + 2));
  });

  test("is not found for a response that is not stored", async () => {
    const { ask, respond } = await startProviderFixture([[{ say: "Hi." }]]);
    const { id } = await respond({ input: "Hi.", store: false });
    expect(await ask(`GET /responses/${id}?stream=true`)).toMatchObject({ status: 404 });
  });
});
