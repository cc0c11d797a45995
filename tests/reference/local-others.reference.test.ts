import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../../src/base/freeze.ts";
import { recordAt, textAt } from "../../src/base/reading.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { checkedFetch } from "../support/local/checked-fetch.ts";
import { adapted, reasonToSkip } from "../support/local/replay-request.ts";
import { output, stage } from "../support/local/stage.ts";

/** Recorded requests that ask for no turn: compactions, counts, containers, and wrong keys. */

interface Exchange {
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly real: string;
  readonly status: number;
  readonly request: WireItem;
  readonly response: WireItem;
}

const shared = process.env["WINK_SHARED"] ?? "";
const recorded = readFileSync(join(shared, "recorded/dev.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Exchange => JSON.parse(line))
  .filter(({ request, response }) => isPlainObject(request) && isPlainObject(response));
const exchanges = recorded.filter(({ real }) => real !== "unproven");

function posted(path: RegExp, status: number, among = exchanges) {
  return among
    .filter((one) => one.method === "POST" && path.test(one.url) && one.status === status)
    .map((one) => [one.id, one] as const);
}

/** The model only ever thinks: what it has to do is make a seal. */
const thinking = () => stage(() => [{ think: "Hm." }, { say: "Hello." }]);

describe("a recorded compaction", () => {
  const all = posted(/responses\/compact$/, 200);
  const some = all.filter(([, { request }]) => reasonToSkip(request) === null);

  test("is there", () => {
    expect([all.length, some.length]).toEqual([7, 7]);
  });

  test.each(some)("%s is answered in the same shape", async (_id, { request, response }) => {
    const on = await thinking();
    const { status, body } = await on.ask("POST /responses/compact", await adapted(request, on));
    expect({ status, error: body["error"] ?? null }).toEqual({ status: 200, error: null });
    expect(Object.keys(body).toSorted()).toEqual(Object.keys(response).toSorted());
    // How often users spoke before is not in the recording of one that goes on.
    const isWhole = request["previous_response_id"] === undefined;
    const typesOf = (answer: WireItem) => {
      const types = output(answer).map(({ type, role }) => `${type} ${role}`);
      return isWhole ? types : [...new Set(types)];
    };
    expect(typesOf(body)).toEqual(typesOf(response));
  });
});

describe("a recorded count of tokens", () => {
  // Such an answer has nothing that would prove it real: two projects recorded it alike.
  const all = posted(/responses\/input_tokens$/, 200, recorded);

  test("is there", () => {
    expect(all).toHaveLength(5);
  });

  test.each(all)("%s is answered in the same shape", async (_id, { request, response }) => {
    const on = await thinking();
    const { status, body } = await on.ask(
      "POST /responses/input_tokens",
      await adapted(request, on),
    );
    expect(status).toBe(200);
    expect(kindsOf(body)).toEqual(kindsOf(response));
    expect(body["object"]).toBe(response["object"]);
    expect(body["input_tokens"]).toBeGreaterThan(0);
  });

  test.each(all)("%s is what a turn then says that it cost", async (_id, { request }) => {
    const on = await thinking();
    const { body } = await on.ask("POST /responses/input_tokens", request);
    const { usage } = await on.respond(request);
    expect(usage).toMatchObject({ input_tokens: body["input_tokens"] });
  });
});

/** The keys of an answer, and what is behind each. */
function kindsOf(answer: WireItem): WireItem {
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, typeof value]));
}

describe("a recorded container", () => {
  test.each(posted(/\/containers$/, 200))(
    "%s is made alike",
    async (_id, { request, response }) => {
      const on = await thinking();
      const { status, body } = await on.ask("POST /containers", await adapted(request, on));
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(expect.arrayContaining(Object.keys(response)));
      expect(body).toMatchObject({ object: "container", status: "running", name: request["name"] });
    },
  );
});

describe("a recorded refusal", () => {
  test.each(posted(/responses$/, 401))("%s is the same", async (_id, { request, response }) => {
    const { ask } = await stage([], { apiKey: "sk-right" });
    const wrong = { authorization: "Bearer sk-wrong" };
    const { status, body } = await ask("POST /responses", request, wrong);
    const [theirs, ours] = [recordAt(response, "error"), recordAt(body, "error")];
    expect(status).toBe(401);
    for (const key of ["type", "param", "code"]) expect(ours[key]).toEqual(theirs[key]);
    expect(textAt(theirs, "message").startsWith("Incorrect API key provided")).toBe(true);
    expect(textAt(ours, "message").startsWith("Incorrect API key provided")).toBe(true);
  });
});

describe("what reads along", () => {
  const reading = async (path: string, body: string, type: string) => {
    const answer = async () => new Response(body, { headers: { "content-type": type } });
    const { fetch, problems } = checkedFetch(answer);
    await fetch(`http://local/v1${path}`, { method: "POST" });
    return (await problems()).join("\n");
  };

  test("notices an answer that OpenAI would not give", async () => {
    const body = JSON.stringify({ id: "resp_1", object: "response" });
    expect(await reading("/responses", body, "application/json")).toContain("required property");
  });

  test("notices events that are not OpenAI's, and their order", async () => {
    const stream = (event: object) => `event: e\ndata: ${JSON.stringify(event)}\n\n`;
    const delta = { type: "response.output_text.delta", sequence_number: 7, delta: "Hi." };
    const found = await reading("/responses", stream(delta), "text/event-stream");
    expect(found).toContain("not numbered");
    expect(found).toContain("response.output_text.delta: data must have required property");
    const odd = { type: "response.odd", sequence_number: 0 };
    expect(await reading("/responses", stream(odd), "text/event-stream")).toContain(
      "no such event",
    );
    const added = { type: "response.output_item.done", sequence_number: 0, output_index: 0 };
    const item = { type: "message", status: "completed" };
    const wrong = await reading("/responses", stream({ ...added, item }), "text/event-stream");
    expect(wrong).toContain("output[0]");
  });
});
