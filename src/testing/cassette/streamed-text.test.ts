import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type Fetch,
  noNetwork,
  post,
  record,
} from "../../../tests/support/cassette/cassette-fixture.ts";
import { cassette } from "./cassette.ts";
import { Scrubber } from "./scrubber.ts";

const KEY = "sk-proj-abcdefghijklmnop_1234";
const OWN_KEY = "plain-own-key-77";

const toSse = (events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

/** Splits a text into pieces of a few characters. */
const split = (text: string, length = 3) => text.match(new RegExp(`[^]{1,${length}}`, "gu")) ?? [];

/** Cleans a stream of events, and returns its events. */
function cleanEvents(events: readonly object[], scrubber = new Scrubber()) {
  const body = Buffer.from(toSse(events));
  const clean = scrubber.cleanBytes(body, "text/event-stream; charset=utf-8");
  const text = Buffer.from(clean).toString();
  const read = text
    .split("\n\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line.slice(6)));
  return { text, events: read, hasSameLength: clean.length === body.length };
}

describe("secrets that a stream delivers in pieces", () => {
  test.each([
    ["response.output_text.delta", { item_id: "m1", content_index: 0 }],
    ["response.function_call_arguments.delta", { item_id: "f1", output_index: 1 }],
    ["response.code_interpreter_call_code.delta", { item_id: "c1" }],
    ["response.reasoning_summary_text.delta", { item_id: "r1", summary_index: 0 }],
  ])("are removed from %s, also between the pieces of other items", (type, ids) => {
    const pieces = split(`äö "${KEY}" is\nthe key 😀`);
    const other = { type, ...ids, item_id: "other", delta: "x" };
    const { text, events, hasSameLength } = cleanEvents(
      pieces.flatMap((delta, index) => [{ type, ...ids, delta, sequence_number: index }, other]),
    );
    const own = events.filter((event) => event.item_id !== "other");
    const joined = own.map(({ delta }) => delta).join("");
    expect(joined).toBe(`äö "<secret${"*".repeat(KEY.length - 8)}>" is\nthe key 😀`);
    expect(hasSameLength).toBe(true);
    expect(own.map(({ delta }) => delta.length)).toEqual(pieces.map((piece) => piece.length));
    expect(text).not.toContain("mnop");
  });

  test("are removed from the deltas of Anthropic's messages and of chat completions", () => {
    const anthropic = split(KEY).map((text) => ({
      ...{ type: "content_block_delta", index: 0 },
      delta: { type: "text_delta", text },
    }));
    const input = split(JSON.stringify({ password: 'hun"ter\\2hunter2' }), 2).map((partial) => ({
      ...{ type: "content_block_delta", index: 1 },
      delta: { type: "input_json_delta", partial_json: partial },
    }));
    const chat = split(KEY).map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
    const calls = split(JSON.stringify({ token: "tok-12345678" })).map((piece) => ({
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 2, function: { arguments: piece } }] } },
      ],
    }));
    const all = cleanEvents([...anthropic, ...input, ...chat, ...calls]);
    const join = (read: (event: never) => string | undefined) =>
      all.events.map((event) => read(event as never) ?? "").join("");
    expect(all.hasSameLength).toBe(true);
    expect(join(({ delta }: Anthropic) => delta?.text)).toMatch(MASK);
    expect(JSON.parse(join(({ delta }: Anthropic) => delta?.partial_json)).password).toMatch(MASK);
    expect(join(({ choices }: Chat) => choices?.[0]?.delta.content)).toMatch(MASK);
    const given = join(
      ({ choices }: Chat) => choices?.[0]?.delta.tool_calls?.[0]?.function.arguments,
    );
    expect(JSON.parse(given).token).toMatch(MASK);
  });

  test("are removed if the stream is cut off within an event", () => {
    const type = "response.output_text.delta";
    const pieces = split(`${OWN_KEY}`, 5).map((delta) => ({ type, item_id: "a", delta }));
    const body = toSse(pieces).trimEnd().slice(0, -2); // without "}
    const scrubber = new Scrubber();
    scrubber.learn(new Headers({ authorization: `Bearer ${OWN_KEY}` }));
    const clean = Buffer.from(scrubber.cleanBytes(Buffer.from(body), "text/event-stream"));
    const deltas = [...clean.toString().matchAll(/"delta":"([^"]*)/g)].map(([, delta]) => delta);
    expect(deltas.join("")).toMatch(MASK);
  });

  test("are removed by the caller's function, which may change the length", () => {
    const scrub = (text: string) => text.replaceAll(/[\w.+-]+@[\w.-]+\.com/g, "person@example.com");
    const deltas = split('Write to ada@lovelace.com "now".').map((delta) => ({
      type: "x.delta",
      delta,
    }));
    const { events } = cleanEvents(deltas, new Scrubber(scrub));
    const joined = events.map(({ delta }) => delta).join("");
    expect(joined).toBe('Write to person@example.com "now".');
  });

  test("are not in the cassette, whose replay delivers the recorded bytes", async () => {
    const type = "response.output_text.delta";
    const said = `Your key is ${OWN_KEY}, and mine is ${KEY}.`;
    const pieces = split(said, 4).map((delta) => ({ type, item_id: "m", delta }));
    const done = { type: "response.output_text.done", item_id: "m", text: said };
    const sent = Buffer.from(toSse([...pieces, done]));
    const answer: Fetch = async () => {
      const stream = new ReadableStream({
        start(controller) {
          for (let at = 0; at < sent.length; at += 50)
            controller.enqueue(sent.subarray(at, at + 50));
          controller.close();
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    };
    const send = async (fetch: Fetch) => {
      const init = post({ model: "m" }, { authorization: `Bearer ${OWN_KEY}` });
      return await (await fetch("http://h/v1/responses", init)).text();
    };
    const path = await record(answer, async (fetch) => {
      expect(await send(fetch)).toBe(sent.toString());
    });
    const recorded = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.includes('"outcome"'))
      .map((line) => JSON.parse(line).outcome.response.body.text as string);
    const replay = cassette(path, { fetch: noNetwork });
    const replayed = await send(replay.fetch);
    await replay.close();
    expect([replayed]).toEqual(recorded);
    expect(replayed).toHaveLength(sent.length);
    const events = replayed
      .trim()
      .split("\n\n")
      .map((line) => JSON.parse(line.slice(6)));
    const joined = events.map(({ delta = "" }) => delta).join("");
    expect(joined).toMatch(/^Your key is <secret\*+>, and mine is <secret\*+>\.$/);
    expect(events.at(-1).text).toBe(joined);
  });
});

const MASK = /^<secret\**>$/;

interface Anthropic {
  readonly delta?: { readonly text?: string; readonly partial_json?: string };
}

interface Chat {
  readonly choices?: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
    };
  }[];
}
