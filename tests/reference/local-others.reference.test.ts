import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../../src/base/freeze.ts";
import { readRecord, readString } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { createCheckedFetch } from "../support/local/checked-fetch.ts";
import { readOutput, startProviderFixture } from "../support/local/provider-fixture.ts";
import { adaptRequest, reasonToSkip } from "../support/local/replay-request.ts";

/** Recorded requests other than turns: compactions, token counts, containers and wrong keys. */

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

function listPosts(path: RegExp, status: number, among = exchanges) {
  return among
    .filter((one) => one.method === "POST" && path.test(one.url) && one.status === status)
    .map((one) => [one.id, one] as const);
}

/** Starts a stage whose model only reasons, to create encrypted content. */
const startThinkingModel = () => startProviderFixture(() => [{ think: "Hm." }, { say: "Hello." }]);

describe("a recorded compaction", () => {
  const all = listPosts(/responses\/compact$/, 200);
  const some = all.filter(([, { request }]) => reasonToSkip(request) === null);

  test("exists", () => {
    expect([all.length, some.length]).toEqual([7, 7]);
  });

  test.each(some)("%s gets a response of the same shape", async (_id, { request, response }) => {
    const on = await startThinkingModel();
    const { status, body } = await on.ask(
      "POST /responses/compact",
      await adaptRequest(request, on),
    );
    expect({ status, error: body["error"] ?? null }).toEqual({ status: 200, error: null });
    expect(Object.keys(body).toSorted()).toEqual(Object.keys(response).toSorted());
    // The recording of a continued conversation lacks the earlier user messages.
    const isWhole = request["previous_response_id"] === undefined;
    const listTypes = (answer: WireItem) => {
      const types = readOutput(answer).map(({ type, role }) => `${type} ${role}`);
      return isWhole ? types : [...new Set(types)];
    };
    expect(listTypes(body)).toEqual(listTypes(response));
  });
});

describe("a recorded count of tokens", () => {
  // These responses cannot be proven real, but two projects recorded the same ones.
  const all = listPosts(/responses\/input_tokens$/, 200, recorded);

  test("exists", () => {
    expect(all).toHaveLength(5);
  });

  test.each(all)("%s gets a response of the same shape", async (_id, { request, response }) => {
    const on = await startThinkingModel();
    const { status, body } = await on.ask(
      "POST /responses/input_tokens",
      await adaptRequest(request, on),
    );
    expect(status).toBe(200);
    expect(getTypes(body)).toEqual(getTypes(response));
    expect(body["object"]).toBe(response["object"]);
    expect(body["input_tokens"]).toBeGreaterThan(0);
  });

  test.each(all)("%s equals the usage of the following turn", async (_id, { request }) => {
    const on = await startThinkingModel();
    const { body } = await on.ask("POST /responses/input_tokens", request);
    const { usage } = await on.respond(request);
    expect(usage).toMatchObject({ input_tokens: body["input_tokens"] });
  });
});

/** Returns the type of each field of a response. */
function getTypes(answer: WireItem): WireItem {
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, typeof value]));
}

describe("a recorded container", () => {
  test.each(listPosts(/\/containers$/, 200))(
    "%s is created with the same fields",
    async (_id, { request, response }) => {
      const on = await startThinkingModel();
      const { status, body } = await on.ask("POST /containers", await adaptRequest(request, on));
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(expect.arrayContaining(Object.keys(response)));
      expect(body).toMatchObject({ object: "container", status: "running", name: request["name"] });
    },
  );
});

describe("a recorded error", () => {
  test.each(listPosts(/responses$/, 401))(
    "%s is returned in the same form",
    async (_id, { request, response }) => {
      const { ask } = await startProviderFixture([], { apiKey: "sk-right" });
      const wrong = { authorization: "Bearer sk-wrong" };
      const { status, body } = await ask("POST /responses", request, wrong);
      const [theirs, ours] = [readRecord(response, "error"), readRecord(body, "error")];
      expect(status).toBe(401);
      for (const key of ["type", "param", "code"]) expect(ours[key]).toEqual(theirs[key]);
      expect(readString(theirs, "message").startsWith("Incorrect API key provided")).toBe(true);
      expect(readString(ours, "message").startsWith("Incorrect API key provided")).toBe(true);
    },
  );
});

describe("checkedFetch()", () => {
  const checkResponse = async (path: string, body: string, type: string) => {
    const answer = async () => new Response(body, { headers: { "content-type": type } });
    const { fetch, problems } = createCheckedFetch(answer);
    await fetch(`http://local/v1${path}`, { method: "POST" });
    return (await problems()).join("\n");
  };

  test("reports a response that OpenAI would not send", async () => {
    const body = JSON.stringify({ id: "resp_1", object: "response" });
    expect(await checkResponse("/responses", body, "application/json")).toContain(
      "required property",
    );
  });

  test("reports unknown events and a wrong order", async () => {
    const stream = (event: object) => `event: e\ndata: ${JSON.stringify(event)}\n\n`;
    const delta = { type: "response.output_text.delta", sequence_number: 7, delta: "Hi." };
    const found = await checkResponse("/responses", stream(delta), "text/event-stream");
    expect(found).toContain("not numbered");
    expect(found).toContain("response.output_text.delta: data must have required property");
    const odd = { type: "response.odd", sequence_number: 0 };
    expect(await checkResponse("/responses", stream(odd), "text/event-stream")).toContain(
      "no such event",
    );
    const added = { type: "response.output_item.done", sequence_number: 0, output_index: 0 };
    const item = { type: "message", status: "completed" };
    const wrong = await checkResponse(
      "/responses",
      stream({ ...added, item }),
      "text/event-stream",
    );
    expect(wrong).toContain("output[0]");
  });
});
