import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider } from "weakincentives/local";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";
import { openRecallSocket } from "../support/local/recall-socket.ts";
import { openSocketClient } from "../support/local/socket-client.ts";

const HANDSHAKE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Sends a handshake and returns the answer over HTTP, or the headers of the upgrade. */
async function shakeHands(url: string, headers: Readonly<Record<string, string>> = {}) {
  const request = sendRequest(url, { headers: { ...HANDSHAKE, ...headers }, agent: false });
  onTestFinished(() => void request.destroy());
  const answer = Promise.race([once(request, "response"), once(request, "upgrade")]);
  request.end();
  const [response] = await answer;
  const { statusCode: status } = response;
  const body = status === 101 ? null : await text(response);
  return { status, headers: response.headers, body: body && JSON.parse(body) };
}

describe("a WebSocket handshake", () => {
  test("gets the headers of other answers", async () => {
    const { url } = await startProviderFixture([]);
    const { status, headers } = await shakeHands(`${url}/responses`);
    expect(status).toBe(101);
    expect(headers).toMatchObject({
      "sec-websocket-accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
      "x-request-id": expect.stringMatching(/^req_/),
      "openai-version": "2020-10-01",
    });
  });

  test("needs the provider's key", async () => {
    const { url } = await startProviderFixture([[{ say: "Owl." }]], { apiKey: "sk-owl" });
    expect(await shakeHands(`${url}/responses`)).toMatchObject({
      status: 401,
      headers: { connection: "close" },
      body: { error: { code: "invalid_api_key" } },
    });
    const wrong = { authorization: "Bearer sk-elk" };
    expect(await shakeHands(`${url}/responses`, wrong)).toMatchObject({ status: 401 });
    const headers = { authorization: "Bearer sk-owl" };
    const client = await openSocketClient(url, { headers, origin: "https://owls.example" });
    client.create({ input: "Owl." });
    expect(readAnswer(await client.readResponse())).toBe("Owl.");
  });

  test.each(["https://owls.example", "http://localhost.owls.example", "null", "file://", "::"])(
    "of a web page with the origin %s is refused without a key",
    async (origin) => {
      const { url } = await startProviderFixture([]);
      expect(await shakeHands(`${url}/responses`, { origin })).toMatchObject({
        status: 403,
        body: {
          error: {
            code: "origin_not_allowed",
            message: expect.stringContaining(`got the origin "${origin}"`),
          },
        },
      });
    },
  );

  test("of a page whose host name resolves to this machine is refused without a key", async () => {
    const { url } = await startProviderFixture([]);
    const headers = { host: "owls.example", origin: "http://owls.example" };
    expect(await shakeHands(`${url}/responses`, headers)).toMatchObject({ status: 403 });
  });

  test("of a page of another server on this machine is refused unless allowedOrigins lists it", async () => {
    const origins = ["http://localhost:3000", "http://127.0.0.1", "tauri://localhost"];
    const { url } = await startProviderFixture([]);
    for (const origin of origins)
      expect(await shakeHands(`${url}/responses`, { origin })).toMatchObject({ status: 403 });
    const open = await startProviderFixture([], { allowedOrigins: origins });
    for (const origin of origins)
      expect(await shakeHands(`${open.url}/responses`, { origin })).toMatchObject({ status: 101 });
  });

  test("of a page that this server itself sent is accepted without a key", async () => {
    const { url } = await startProviderFixture([]);
    const { origin } = new URL(url);
    expect(await shakeHands(`${url}/responses`, { origin })).toMatchObject({ status: 101 });
  });

  test.each([
    ["/models", 200],
    ["/realtime", 404],
    ["/responses/resp_lost", 404],
  ])("for %s is answered over HTTP", async (path, status) => {
    const { url } = await startProviderFixture([]);
    expect(await shakeHands(`${url}${path}`)).toMatchObject({ status });
  });

  test("without a valid key header is refused", async () => {
    const { url } = await startProviderFixture([]);
    const request = sendRequest(`${url}/responses`, {
      headers: { ...HANDSHAKE, "sec-websocket-key": "owl" },
      agent: false,
    });
    request.end();
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(400);
    expect(await shakeHands(`${url}/responses`)).toMatchObject({ status: 101 });
  });

  test("of a client that disconnects at once leaves nothing behind", async () => {
    const { url, respond } = await startProviderFixture([[{ say: "Owl." }]]);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const lines = Object.entries(HANDSHAKE).map(([name, value]) => `${name}: ${value}`);
    socket.write(["GET /v1/responses HTTP/1.1", "host: owl", ...lines, "", ""].join("\r\n"));
    socket.resetAndDestroy();
    expect(readAnswer(await respond({ input: "Owl." }))).toBe("Owl.");
  });

  test("in process is refused with a remedy", async () => {
    await using provider = new LocalProvider();
    const response = await provider.fetch("http://local/v1/responses", {
      headers: { upgrade: "websocket" },
    });
    expect(response.status).toBe(426);
    expect(response.headers.get("upgrade")).toBe("websocket");
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("provider.listen()") },
    });
  });
});

describe("a request that offers another protocol than WebSocket", () => {
  test("is served with its body, and the connection stays usable", async () => {
    const { url } = await startProviderFixture([[{ say: "Owl." }], [{ say: "Elk." }]]);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const body = JSON.stringify({ model: "any", input: "Ã¶wl" });
    const createRequest = (lines: readonly string[]) =>
      ["POST /v1/responses HTTP/1.1", "host: localhost", "content-type: application/json"]
        .concat(`content-length: ${Buffer.byteLength(body)}`, lines, "", body)
        .join("\r\n");
    const offer = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEA"];
    socket.write(createRequest(offer));
    let heard = "";
    socket.on("data", (part) => {
      heard += String(part);
    });
    await expect.poll(() => heard).toContain("Owl.");
    socket.end(createRequest(["connection: close"]));
    await once(socket, "close");
    expect(heard).toContain("Elk.");
    expect(heard.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  test("with a method other than GET is an ordinary request", async () => {
    const { url } = await startProviderFixture([]);
    const headers = {
      ...{ connection: "Upgrade", upgrade: "websocket" },
      "content-type": "application/json",
    };
    const request = sendRequest(`${url}/responses`, { method: "POST", headers, agent: false });
    request.end("{");
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(400);
    expect(await text(response)).toContain("We could not parse the JSON body");
  });
});

describe("an invalid WebSocket message", () => {
  test.each([
    {
      name: "that is no JSON",
      message: "{",
      error: { code: "invalid_json", message: expect.stringContaining("could not parse") },
    },
    {
      name: "that is no object",
      message: "[]",
      error: { code: "invalid_type", param: "event" },
    },
    {
      name: "without a type",
      message: "{}",
      error: { code: "missing_required_parameter", param: "type" },
    },
    {
      name: "of an unknown type",
      message: '{"type":"response.cancel"}',
      error: { code: "invalid_value", param: "type", message: /^Invalid value: 'response.cancel'/ },
    },
    {
      name: "in binary form",
      message: Buffer.from('{"type":"response.create"}'),
      error: { code: "invalid_message", message: /^Binary WebSocket messages/ },
    },
    {
      name: "with an empty stream_id",
      message: '{"type":"response.create","stream_id":""}',
      error: { code: "invalid_stream_id", param: "stream_id" },
    },
    {
      name: "with a stream_id that is too long",
      message: JSON.stringify({ type: "response.create", stream_id: "a".repeat(257) }),
      error: { code: "invalid_stream_id", param: "stream_id" },
    },
    {
      name: "with background: true",
      message: '{"type":"response.create","background":true}',
      error: { code: "unsupported_parameter", param: "background" },
    },
    {
      name: "with a generate that is no boolean",
      message: '{"type":"response.create","generate":1}',
      error: { code: "invalid_type", param: "generate" },
    },
    {
      name: "without a model",
      message: '{"type":"response.create","input":"Owl."}',
      error: { code: "missing_required_parameter", param: "model" },
    },
    {
      name: "with an unknown parameter",
      message: '{"type":"response.create","model":"any","input":"Owl.","owl":1}',
      error: { code: "unknown_parameter", param: "owl" },
    },
  ])("$name gets an error event, and the connection stays open", async ({ message, error }) => {
    const { client } = await openRecallSocket();
    client.send(message);
    const event = await client.readError();
    const text = error.message instanceof RegExp ? expect.stringMatching(error.message) : undefined;
    expect(event).toMatchObject({
      status: 400,
      error: { type: "invalid_request_error", ...error, ...(text ? { message: text } : {}) },
    });
    client.create({ input: "Owl." });
    expect(readAnswer(await client.readResponse())).toBe("Owl.");
  });

  test("that is too long gets an error event, and the connection is closed", async () => {
    const limits = { maxBodyBytes: 1000 };
    const { url } = await startProviderFixture([], { limits });
    const client = await openSocketClient(url);
    client.create({ input: "x".repeat(1000) });
    expect(await client.readError()).toMatchObject({
      status: 413,
      error: {
        code: "request_too_large",
        message: "The WebSocket message is larger than 1000 bytes.",
      },
    });
    expect(await client.closed).toMatchObject({ code: 1009 });
  });

  test("with invalid text closes the connection", async () => {
    const { client } = await openRecallSocket();
    client.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect(await client.closed).toMatchObject({ code: 1007 });
  });
});
