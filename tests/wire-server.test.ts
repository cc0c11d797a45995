import { describe, expect, test } from "vitest";
import { fakeClock, scriptedClient } from "weakincentives/testing";
import { openaiSubject } from "./support/contract-server.ts";
import {
  applyPatchCall,
  codeInterpreterCall,
  fileSearchCall,
  functionCall,
  message,
  reasoning,
  shellCall,
  shellCallOutput,
  startWireServer,
  urlCitation,
  type WireServer,
  webSearchCall,
} from "./support/wire-server.ts";

/** Sends `POST /responses` to a server and returns the response. */
async function postResponses({ url }: Pick<WireServer, "url">, body: object = {}) {
  const response = await fetch(`${url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-5.1", input: "Hello.", ...body }),
  });
  const json = JSON.parse(await response.text());
  return { status: response.status, header: (name: string) => response.headers.get(name), json };
}

const user = { type: "message", role: "user", content: "Go on." };
const said = { type: "message", role: "assistant", content: "Well." };

describe("wireServer()", () => {
  test("answers each request with the script's next response", async () => {
    await using server = await startWireServer([
      [message("Owls.", [urlCitation("https://owls.example", "Owls", [0, 4])])],
      { output: [message("Half")], incomplete_details: { reason: "max_output_tokens" } },
      { output: [], error: { code: "server_error", message: "No." }, usage: null, id: "resp_x" },
    ]);

    const first = await postResponses(server, { store: false });
    const second = await postResponses(server);
    const third = await postResponses(server);

    expect([first.status, first.json.object, first.json.status]).toEqual([
      200,
      "response",
      "completed",
    ]);
    expect(first.json).toMatchObject({ model: "gpt-5.1", store: false, temperature: 1 });
    expect(first.json.usage).toMatchObject({
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
    });
    expect(first.json.output[0].content[0]).toMatchObject({
      text: "Owls.",
      annotations: [{ type: "url_citation", start_index: 0, end_index: 4 }],
    });
    expect([second.json.status, second.json.id]).toEqual(["incomplete", "resp_2"]);
    expect([third.json.status, third.json.usage, third.json.id]).toEqual([
      "failed",
      null,
      "resp_x",
    ]);
    expect([first.header("x-request-id"), second.header("x-request-id")]).toEqual([
      "req_1",
      "req_2",
    ]);
    expect(first.header("openai-processing-ms")).toBe("1");
  });

  test("records every request", async () => {
    await using server = await startWireServer([[message("Hello.")]]);
    await postResponses(server, { store: false });
    await fetch(`${server.url}/containers?limit=2`, { headers: { authorization: "Bearer key" } });

    const [first, second] = server.requests;
    expect([first?.method, first?.path]).toEqual(["POST", "/responses"]);
    expect(first?.body).toEqual({ model: "gpt-5.1", input: "Hello.", store: false });
    expect(JSON.parse(first?.text ?? "")).toEqual(first?.body);
    expect([second?.path, second?.query.get("limit"), second?.headers["authorization"]]).toEqual([
      "/containers",
      "2",
      "Bearer key",
    ]);
  });

  test("accepts a function as script", async () => {
    await using server = await startWireServer(({ body }) => [
      message(`You said ${body["input"]}`),
    ]);
    const { json } = await postResponses(server, { input: "owl" });
    expect(json.output[0].content[0].text).toBe("You said owl");
  });

  test("assigns unique ids and keeps the script's ids", async () => {
    await using server = await startWireServer([
      [reasoning(), functionCall("add", {}), shellCall(["ls"], "cntr_1"), shellCallOutput([])],
      [reasoning("rs_2"), reasoning(), functionCall("add", { a: 1 }, "call_own"), { type: "odd" }],
    ]);
    const outputs = [
      (await postResponses(server)).json.output,
      (await postResponses(server)).json.output,
    ];

    expect(outputs.flat().map(({ id }) => id)).toEqual([
      "rs_1",
      "fc_1",
      "sh_1",
      "sho_1",
      "rs_2",
      "rs_3",
      "fc_2",
      "item_1",
    ]);
    expect(outputs.flat().map(({ call_id }) => call_id)).toEqual([
      undefined,
      "call_1",
      "call_2",
      "call_2",
      undefined,
      undefined,
      "call_own",
      undefined,
    ]);
  });

  test("sends optional fields only if include lists them", async () => {
    const output = [
      reasoning("rs_1", "secret"),
      codeInterpreterCall("print(1)", ["1\n"]),
      fileSearchCall(
        ["owls"],
        [{ file_id: "file_1", filename: "owls.txt", score: 1, text: "Owl" }],
      ),
      webSearchCall("owls", ["https://owls.example"]),
    ];
    const include = [
      "reasoning.encrypted_content",
      "code_interpreter_call.outputs",
      "file_search_call.results",
      "web_search_call.action.sources",
    ];
    await using server = await startWireServer([output, output]);
    const bare = (await postResponses(server)).json.output;
    const full = (await postResponses(server, { include })).json.output;

    expect(["encrypted_content" in bare[0], bare[1].outputs, bare[2].results]).toEqual([
      false,
      null,
      null,
    ]);
    expect(bare[3].action).toEqual({ type: "search", query: "owls", queries: ["owls"] });
    expect(full[0].encrypted_content).toBe("secret");
    expect(full[1].outputs).toEqual([{ type: "logs", logs: "1\n" }]);
    expect(full[2].results).toHaveLength(1);
    expect(full[3].action.sources).toEqual([{ type: "url", url: "https://owls.example" }]);
  });

  test("answers configured routes and returns 404 for others", async () => {
    await using server = await startWireServer([], {
      routes: {
        "GET /containers/cntr_1": { json: { id: "cntr_1" }, headers: { "x-more": "yes" } },
        "GET /files/file_1/content": { bytes: Uint8Array.of(1, 2) },
        "POST /files": ({ body }) => ({ json: { purpose: body["purpose"] }, status: 201 }),
      },
    });
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new File(["owl"], "owl.txt"));

    const container = await fetch(`${server.url}/containers/cntr_1?x=1`);
    const content = await fetch(`${server.url}/files/file_1/content`);
    const upload = await fetch(`${server.url}/files`, { method: "POST", body: form });
    const missing = await fetch(`${server.url}/containers/cntr_2`);

    expect([await container.json(), container.headers.get("x-more")]).toEqual([
      { id: "cntr_1" },
      "yes",
    ]);
    expect([...(await content.bytes())]).toEqual([1, 2]);
    expect([upload.status, await upload.json()]).toEqual([201, { purpose: "user_data" }]);
    expect(server.requests[2]?.body["file"]).toMatchObject({ name: "owl.txt", size: 3 });
    expect([missing.status, await missing.json()]).toEqual([
      404,
      {
        error: {
          message: "Invalid URL (GET /v1/containers/cntr_2)",
          type: "invalid_request_error",
          param: null,
          code: null,
        },
      },
    ]);
  });

  test("fails as scripted: with an error, a lost connection, or no response", async () => {
    const error = { message: "Slow down.", code: "rate_limit_exceeded" };
    await using server = await startWireServer([
      { status: 429, error, headers: { "retry-after": "2" } },
      { raw: ({ socket }) => socket.destroy() },
      { stall: true },
    ]);

    const { status, header, json } = await postResponses(server);
    expect([status, header("retry-after"), json.error.code, json.error.param]).toEqual([
      429,
      "2",
      "rate_limit_exceeded",
      null,
    ]);
    await expect(postResponses(server)).rejects.toThrow("fetch failed");
    const silent = expect(postResponses(server)).rejects.toThrow("fetch failed");
    await expect.poll(() => server.requests.length).toBe(3);
    await server.close();
    await silent;
  });

  test("tolerates clients that disconnect", async () => {
    await using server = await startWireServer([{ stall: true }]);
    const stop = new AbortController();
    const init = { method: "POST", body: '{"model":"m"}', signal: stop.signal };
    const gone = expect(fetch(`${server.url}/responses`, init)).rejects.toThrow("enough");
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort(new Error("enough"));
    await gone;
  });
});

describe("wireServer() rejects with the provider's message", () => {
  test.each([
    ["an unknown parameter", { foo: 1 }, "Unknown parameter: 'foo'.", "unknown_parameter"],
    [
      "code_interpreter without a container",
      { tools: [{ type: "web_search" }, { type: "code_interpreter" }] },
      "Missing required parameter: 'tools[1].container'.",
      "missing_required_parameter",
    ],
    [
      "a request without a model",
      { model: undefined },
      "Missing required parameter: 'model'.",
      "missing_required_parameter",
    ],
  ])("%s", async (_what, body, words, code) => {
    await using server = await startWireServer([[message("Yes.")]], { invalid: "allowed" });
    const { status, json } = await postResponses(server, body);
    expect([status, json.error.message, json.error.code]).toEqual([400, words, code]);
    expect((await postResponses(server)).status).toBe(200); // the answer was not used up
  });

  const call = { ...functionCall("add", {}, "call_1"), id: "fc_1" };
  const output = { type: "function_call_output", call_id: "call_1", output: "2" };
  const thought = { ...reasoning("rs_1") };
  const { encrypted_content: _sealed, ...bare } = thought;
  const unsealed = { input: [bare, said, user], store: false };
  const led = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";

  test.each([
    [
      "a call without its output",
      { input: [call] },
      "No tool output found for function call call_1.",
    ],
    [
      "a patch without its output",
      { input: [{ ...applyPatchCall({}), call_id: "call_2" }] },
      "No tool output found for apply patch call call_2.",
    ],
    [
      "an output without its call",
      { input: [output] },
      "No tool call found for function call output with call_id call_1.",
    ],
    ["reasoning at the end", { input: [user, thought] }, led],
    ["reasoning before a user message", { input: [thought, user] }, led],
    ["reasoning before an output", { input: [call, thought, output] }, led],
    ["reasoning that was not stored", unsealed, "Item with id 'rs_1' not found."],
  ])("%s, unless it is lenient", async (_what, body, words) => {
    const answers = [[message("Yes.")]];
    await using strict = await startWireServer(answers, {
      leftOver: "allowed",
      invalid: "allowed",
    });
    await using lenient = await startWireServer(answers, { lenient: true, invalid: "allowed" });

    const { status, json } = await postResponses(strict, body);
    expect([status, json.error.param]).toEqual([body === unsealed ? 404 : 400, "input"]);
    expect(json.error.message).toContain(words);
    expect((await postResponses(lenient, body)).status).toBe(200);
  });

  test.each([
    ["calls with their outputs", { input: [thought, call, output, user] }],
    ["reasoning followed by more reasoning", { input: [thought, thought, said, user] }],
    ["an output to a stored call", { input: [output], previous_response_id: "resp_1" }],
    ["an output to a call by its id", { input: [{ type: "item_reference", id: "fc_1" }, output] }],
  ])("nothing for %s", async (_what, body) => {
    await using server = await startWireServer([[message("Yes.")]], { invalid: "allowed" });
    expect((await postResponses(server, body)).status).toBe(200);
  });
});

describe("WireServer.close()", () => {
  test("throws for unused answers, unless that is allowed", async () => {
    const script = [[message("One.")], [message("Two.")]];
    const server = await startWireServer(script);
    await postResponses(server);
    await expect(server.close()).rejects.toThrow("1 of the script's 2 answers were not requested");
    await server.close(); // throws only once

    const other = await startWireServer(script, { leftOver: "allowed" });
    await other.close();
    await expect(postResponses(other)).rejects.toThrow("fetch failed");
  });

  test("throws for requests without an answer in the script", async () => {
    const server = await startWireServer([]);
    const { status, header, json } = await postResponses(server);
    const words = "The script has no answer to request 1, POST /responses";
    expect([status, json.error.message, header("x-should-retry")]).toEqual([500, words, "false"]);
    await expect(server.close()).rejects.toThrow(words);
  });

  test("throws a script's error, before and after the response started", async () => {
    const server = await startWireServer(() => Promise.reject(new Error("no script today")));
    expect((await postResponses(server)).json.error.message).toBe("no script today");
    await expect(server.close()).rejects.toThrow("no script today");

    const other = await startWireServer([
      {
        raw: (_request, response) => {
          response.flushHeaders();
          throw new TypeError("half an answer");
        },
      },
    ]);
    await expect(postResponses(other)).rejects.toThrow("terminated");
    await expect(other.close()).rejects.toThrow("half an answer");
  });
});

describe("openaiSubject() converts the contract's script to", () => {
  /** Starts a server whose model plays the contract's script. */
  async function createSubject(...script: Parameters<ReturnType<typeof openaiSubject>>[0]) {
    let url = "";
    const make = openaiSubject((at) => {
      url = at;
      return scriptedClient();
    });
    const subject = await make(script, { clock: fakeClock() });
    return { url, ...subject, [Symbol.asyncDispose]: async () => subject.close?.() };
  }

  test("items and usage", async () => {
    await using subject = await createSubject({
      text: "Owls.",
      toolCalls: [{ name: "note", arguments: { word: "a" } }],
      hostedCalls: [{ name: "web_search", callId: "ws_9" }, { name: "web_search" }],
      usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 4, reasoningTokens: 1 },
    });
    const { output, usage } = (await postResponses(subject)).json;

    expect(output.map(({ type, id }: Record<string, unknown>) => [type, id])).toEqual([
      ["web_search_call", "ws_9"],
      ["web_search_call", "ws_1"],
      ["message", "msg_1"],
      ["function_call", "fc_1"],
    ]);
    expect(output[3]).toMatchObject({ arguments: '{"word":"a"}', call_id: "call_1" });
    expect(usage).toEqual({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 12,
    });
    expect(subject.asked().map((text) => JSON.parse(text).input)).toEqual(["Hello."]);
  });

  test("errors of each kind", async () => {
    await using subject = await createSubject(
      { throttle: { kind: "rate_limit", retryAfterMs: 1_500 } },
      { throttle: { kind: "quota_exhausted" } },
      { throttle: { kind: "server" } },
      { throttle: { kind: "timeout" } },
      { throttle: { kind: "network" } },
      { stall: true },
    );
    const limited = await postResponses(subject);
    expect([limited.status, limited.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect([limited.header("retry-after"), limited.header("retry-after-ms")]).toEqual([
      "2",
      "1500",
    ]);
    const spent = await postResponses(subject);
    expect([spent.status, spent.json.error.type]).toEqual([429, "insufficient_quota"]);
    expect([(await postResponses(subject)).status, (await postResponses(subject)).status]).toEqual([
      500, 408,
    ]);
    await expect(postResponses(subject)).rejects.toThrow("fetch failed");
    const stalled = expect(postResponses(subject)).rejects.toThrow("fetch failed");
    await expect.poll(() => subject.asked().length).toBe(6);
    await subject.close?.();
    await stalled;
  });
});
