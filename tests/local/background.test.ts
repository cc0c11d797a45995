import OpenAI from "openai";
import { describe, expect, test, vi } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { hostSandbox } from "../support/host-sandbox.ts";
import { parseEvents } from "../support/local/checked-fetch.ts";
import {
  type ProviderFixture,
  readAnswer,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";
import { createTemporaryDataDir } from "../support/local-storage.ts";

const background = { input: "Hi.", background: true };

/** Creates a script whose turns begin with a wait that the test ends. */
function createGate(after: readonly ModelAction[], before: readonly ModelAction[] = []) {
  const [asked, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  const script = async () => {
    if (calls++ === 0 && before.length > 0) return before;
    asked.resolve();
    await open.promise;
    return after;
  };
  return { model: { respond: script }, asked: asked.promise, open: () => open.resolve() };
}

async function waitForStatus({ ask }: Pick<ProviderFixture, "ask">, id: unknown, status: string) {
  return await vi.waitFor(async () => {
    const { body } = await ask(`GET /responses/${id}`);
    expect(body).toMatchObject({ id, status });
    return body;
  });
}

/** Reads a stream of retrieved events. */
async function readStream({ ask }: Pick<ProviderFixture, "ask">, id: unknown, query = "") {
  const { status, body } = await ask(`GET /responses/${id}?stream=true${query}`);
  expect(status).toBe(200);
  return parseEvents(String(body["text"]));
}

describe("a background response", () => {
  test("is queued at once, in progress while it runs, and completed in the end", async () => {
    const gate = createGate([{ say: "Done." }], [{ think: "Hm." }]);
    const fixture = await startProviderFixture([], { model: gate.model });
    const started = await fixture.respond(background);
    expect(started).toMatchObject({ status: "queued", background: true, output: [], usage: null });
    const { id } = started;
    await gate.asked;
    const running = await waitForStatus(fixture, id, "in_progress");
    expect(readOutput(running)).toMatchObject([{ type: "reasoning" }]);
    const { body: input } = await fixture.ask(`GET /responses/${id}/input_items`);
    expect(input).toMatchObject({ data: [{ role: "user" }] });
    gate.open();
    const done = await waitForStatus(fixture, id, "completed");
    expect(done).toMatchObject({ background: true, created_at: started["created_at"] });
    expect(readAnswer(done)).toBe("Done.");
    const next = await fixture.respond({ input: "And?", previous_response_id: id });
    expect(next["status"]).toBe("completed");
  });

  test("continues when its client disconnects, and can be followed by any number of streams", async () => {
    const gate = createGate([{ say: "Done." }], [{ think: "Hm." }]);
    const fixture = await startProviderFixture([], { model: gate.model });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: "any", ...background, stream: true });
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal: leaving.signal,
    };
    const first = await fetch(`${fixture.url}/responses`, init);
    const reader = first.body?.getReader();
    let text = "";
    while (!text.includes("response.output_item.done"))
      text += new TextDecoder().decode((await reader?.read())?.value);
    leaving.abort();
    const seen = parseEvents(text);
    expect(seen.slice(0, 3)).toMatchObject([
      { type: "response.created", response: { status: "queued" }, sequence_number: 0 },
      { type: "response.queued", response: { status: "queued" }, sequence_number: 1 },
      { type: "response.in_progress", response: { status: "in_progress" }, sequence_number: 2 },
    ]);
    const { id } = Object(seen[0]?.["response"]);
    await gate.asked;
    const [all, rest] = [
      readStream(fixture, id),
      readStream(fixture, id, `&starting_after=${seen.at(-1)?.["sequence_number"]}`),
    ];
    gate.open();
    expect([...seen, ...(await rest)]).toEqual(await all);
    expect((await all).at(-1)).toMatchObject({
      type: "response.completed",
      response: { status: "completed" },
    });
    await waitForStatus(fixture, id, "completed");
    expect(await readStream(fixture, id)).toEqual(await all);
    expect(await readStream(fixture, id, "&starting_after=999")).toEqual([]);
  });

  test("survives a connection that the model drops", async () => {
    const fixture = await startProviderFixture([
      [{ think: "Hm." }, { drop: true }, { say: "Done." }],
    ]);
    const client = new OpenAI({ baseURL: fixture.url, apiKey: "k", maxRetries: 0 });
    const stream = await client.responses.create({ model: "any", ...background, stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const read = async () => {
      for await (const event of stream) events.push(event);
    };
    await expect(read()).rejects.toThrow();
    const [created] = events;
    if (created?.type !== "response.created") throw new Error("The stream did not start.");
    const { id } = created.response;
    const starting_after = events.at(-1)?.sequence_number ?? 0;
    const rest = await client.responses.retrieve(id, { stream: true, starting_after });
    for await (const event of rest) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    expect(events.at(-1)?.type).toBe("response.completed");
  });

  test("is checked whole where the turn continues after a drop", async () => {
    const fixture = await startProviderFixture([
      [{ drop: true }, { call: { name: "missing", args: {} } }],
    ]);
    const { id } = await fixture.respond(background);
    const failed = await waitForStatus(fixture, id, "failed");
    expect(failed).toMatchObject({ error: { code: "invalid_prompt" } });
  });

  test("is cancelled, as often as the client asks", async () => {
    const fixture = await startProviderFixture([[{ think: "Hm." }, { stall: 60_000 }]]);
    const { id } = await fixture.respond(background);
    const stream = readStream(fixture, id);
    await vi.waitFor(async () => {
      const { body } = await fixture.ask(`GET /responses/${id}`);
      expect(body["output"]).toHaveLength(1);
    });
    for (let count = 0; count < 2; count++)
      expect(await fixture.ask(`POST /responses/${id}/cancel`)).toMatchObject({
        status: 200,
        body: { id, status: "cancelled", output: [], error: null, completed_at: null },
      });
    const events = await stream;
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "cancelled", output: [] },
    });
    expect(events.map(({ type }) => type)).toContain("response.output_item.done");
    expect(await readStream(fixture, id)).toEqual(events);
  });

  test.each<[string, ModelAction[]]>([
    ["a completed", [{ say: "Done." }]],
    ["a failed", [{ fail: { message: "Oh." } }]],
    ["an incomplete", [{ say: "Too long. ".repeat(100) }]],
  ])("cannot be cancelled as %s response", async (status, actions) => {
    const fixture = await startProviderFixture([actions]);
    const { id } = await fixture.respond({ ...background, max_output_tokens: 16 });
    await waitForStatus(fixture, id, status.split(" ")[1] ?? "");
    expect(await fixture.ask(`POST /responses/${id}/cancel`)).toMatchObject({
      status: 400,
      body: { error: { message: `Cannot cancel ${status} response.` } },
    });
  });

  test("is cancelled at once, even if a tool ignores its signal", async () => {
    const fixture = await startProviderFixture(() => [{ code: "import time\ntime.sleep(1)" }]);
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const { id } = await fixture.respond({ ...background, tools });
    await waitForStatus(fixture, id, "in_progress");
    const started = performance.now();
    expect(await fixture.ask(`POST /responses/${id}/cancel`)).toMatchObject({
      body: { status: "cancelled" },
    });
    expect(performance.now() - started).toBeLessThan(900);
  });

  test("is cancelled by its deletion", async () => {
    const fixture = await startProviderFixture([[{ stall: 60_000 }]]);
    const { id } = await fixture.respond(background);
    const stream = readStream(fixture, id);
    await waitForStatus(fixture, id, "in_progress");
    expect(await fixture.ask(`DELETE /responses/${id}`)).toMatchObject({
      status: 200,
      body: { id, deleted: true },
    });
    expect((await stream).at(-1)).toMatchObject({ response: { status: "cancelled" } });
    expect(await fixture.ask(`GET /responses/${id}`)).toMatchObject({ status: 404 });
    expect(await fixture.ask(`POST /responses/${id}/cancel`)).toMatchObject({ status: 404 });
  });

  test("is stored if it fails, with its items and the events of its stream", async () => {
    const faults: unknown[] = [];
    const model = {
      async respond({ turn }: { readonly turn: number }): Promise<readonly ModelAction[]> {
        if (turn === 0) return [{ fail: { status: 429, code: "rate_limit_exceeded" } }];
        if (turn === 1) return [{ failInStream: { status: 503, message: "Busy." } }];
        if (turn === 2) return [{ think: "Hm." }];
        throw new Error("a bug");
      },
    };
    const onFault = (error: unknown) => void faults.push(error);
    const fixture = await startProviderFixture([], { model, onFault });
    const errors = [
      [{ type: "requests", code: "rate_limit_exceeded" }, { code: "rate_limit_exceeded" }, 0],
      [{ type: "server_error", code: null, message: "Busy." }, { code: "server_error" }, 0],
      [{ type: "server_error", message: "a bug" }, { code: "server_error", message: "a bug" }, 1],
    ] as const;
    for (const [event, error, items] of errors) {
      const events = await fixture.stream(background);
      expect(events.slice(-2)).toMatchObject([
        { type: "error", error: event },
        { type: "response.failed", response: { status: "failed", error } },
      ]);
      const { id, output } = Object(events.at(-1)?.["response"]);
      expect(output).toHaveLength(items);
      expect((await fixture.ask(`GET /responses/${id}`)).body).toEqual(events.at(-1)?.["response"]);
      expect(await readStream(fixture, id)).toEqual(events);
    }
    expect(faults).toMatchObject([{ message: "a bug" }]);
  });

  test("cannot be continued before it has finished", async () => {
    const fixture = await startProviderFixture([[{ stall: 60_000 }]]);
    const { id } = await fixture.respond(background);
    const body = { model: "any", input: "And?", previous_response_id: id };
    expect(await fixture.ask("POST /responses", body)).toMatchObject({
      status: 400,
      body: {
        error: {
          message: `Previous response with id '${id}' is still in progress. Wait until it is completed, or cancel it.`,
          param: "previous_response_id",
        },
      },
    });
  });

  test("belongs to its conversation when it has finished", async () => {
    const fixture = await startProviderFixture([
      [{ stall: 60_000 }],
      [{ stall: 50 }, { say: "Done." }],
      [{ fail: { message: "Oh." } }],
    ]);
    const { body: conversation } = await fixture.ask("POST /conversations", {});
    const named = { ...background, conversation: conversation["id"] };
    const first = await fixture.respond(named);
    const locked = await fixture.ask("POST /responses", { model: "any", ...named });
    expect(locked.status).toBeGreaterThanOrEqual(400);
    await fixture.ask(`POST /responses/${first["id"]}/cancel`);
    const second = await fixture.respond(named);
    await waitForStatus(fixture, second["id"], "completed");
    const failed = await fixture.respond(named);
    await waitForStatus(fixture, failed["id"], "failed");
    const { body } = await fixture.ask(`GET /conversations/${conversation["id"]}/items?order=asc`);
    expect(body["data"]).toMatchObject([{ role: "user" }, { role: "assistant" }]);
  });

  test("shows more fields if the retrieval includes them", async () => {
    const fixture = await startProviderFixture([[{ think: "Hm." }, { stall: 60_000 }]]);
    const { id } = await fixture.respond(background);
    const include = "include[]=reasoning.encrypted_content";
    const [plain, full] = await vi.waitFor(async () => {
      const answers = await Promise.all([
        fixture.ask(`GET /responses/${id}`),
        fixture.ask(`GET /responses/${id}?${include}`),
      ]);
      const [one, other] = answers.map(({ body }) => readOutput(body)[0]);
      expect(one).toBeDefined();
      return [one, other];
    });
    expect(plain).not.toHaveProperty("encrypted_content");
    expect(full).toHaveProperty("encrypted_content");
    const stream = readStream(fixture, id, `&${include}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await fixture.ask(`POST /responses/${id}/cancel`);
    const done = (await stream).find(({ type }) => type === "response.output_item.done");
    expect(done?.["item"]).toEqual(full);
  });

  test("is polled and streamed by the official client", async () => {
    const { url } = await startProviderFixture([[{ stall: 30 }, { say: "Done." }]]);
    const client = new OpenAI({ baseURL: url, apiKey: "k" });
    let response = await client.responses.create({ model: "any", ...background });
    while (response.status === "queued" || response.status === "in_progress") {
      await new Promise((resolve) => setTimeout(resolve, 5));
      response = await client.responses.retrieve(response.id);
    }
    expect(response.output_text).toBe("Done.");
    const stream = client.responses.stream({ response_id: response.id, starting_after: 2 });
    expect((await stream.finalResponse()).output_text).toBe("Done.");
  });

  test("is refused while 256 others are running", async () => {
    const { ask, respond } = await startProviderFixture(() => [{ stall: 60_000 }]);
    const responses = await Promise.all(Array.from({ length: 256 }, () => respond(background)));
    const refused = await ask("POST /responses", { model: "any", ...background });
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { type: "requests", code: "rate_limit_exceeded" } },
    });
    await ask(`POST /responses/${responses[0]?.["id"]}/cancel`);
    await respond(background);
  });
});

describe("a background response whose provider ends", () => {
  const options = { sandbox: hostSandbox(), model: scriptedModel(() => [{ stall: 60_000 }]) };
  const at = "http://local/v1/responses";
  const body = JSON.stringify({ model: "any", ...background });

  test("is stored as failed, and its stream breaks off", async () => {
    using folder = createTemporaryDataDir();
    const first = new LocalProvider({ ...options, dataDir: folder.path });
    const { id } = await (await first.fetch(at, { method: "POST", body })).json();
    const stream = await first.fetch(`${at}/${id}?stream=true`);
    await first[Symbol.asyncDispose]();
    await expect(stream.text()).rejects.toThrow();
    await using second = new LocalProvider({ ...options, dataDir: folder.path });
    const found = await (await second.fetch(`${at}/${id}`)).json();
    const message = "The local provider was closed before the response was complete.";
    expect(found).toMatchObject({ status: "failed", error: { code: "server_error", message } });
  });

  test("is failed after a crash", async () => {
    using folder = createTemporaryDataDir();
    const { openDatabase } = await import("../../src/local/store/database.ts");
    const { ResponseStore } = await import("../../src/local/store/response-store.ts");
    const response = { id: "resp_1", object: "response", status: "queued", error: null, tools: [] };
    {
      using database = openDatabase(folder.path);
      const store = new ResponseStore(database);
      store.markRunning("resp_1");
      const stored = { id: "resp_1", createdAt: 1, response, include: new Set<string>() };
      store.add({ ...stored, previous: null, input: [], output: [] });
      expect(store.isRunning("resp_1")).toBe(true);
    }
    await using provider = new LocalProvider({ ...options, dataDir: folder.path });
    const { status, error } = await (await provider.fetch(`${at}/resp_1`)).json();
    expect({ status, error }).toMatchObject({ status: "failed", error: { code: "server_error" } });
    const cancel = await provider.fetch(`${at}/resp_1/cancel`, { method: "POST" });
    expect(cancel.status).toBe(400);
  });
});

test("a response that is not in the background cannot be cancelled", async () => {
  const { ask, respond } = await startProviderFixture([[{ say: "Hi." }]]);
  const { id } = await respond({ input: "Hi." });
  expect(await ask(`POST /responses/${id}/cancel`)).toMatchObject({
    status: 400,
    body: { error: { message: "Cannot cancel a synchronous response.", code: null } },
  });
});
