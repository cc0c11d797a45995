import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider, type LocalProviderOptions } from "weakincentives/local";
import { attempt } from "../support/attacks/attempt.ts";
import { formatRequest, sendRaw } from "../support/attacks/send-raw.ts";
import { hostSandbox } from "../support/host-sandbox.ts";

/** Starts a provider without a key, with a file that a page must not read. */
async function startTarget(options: LocalProviderOptions = {}) {
  const answered: number[] = [];
  const provider = new LocalProvider({
    sandbox: hostSandbox(),
    onRequest: ({ status }) => void answered.push(status ?? 0),
    ...options,
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  return { provider, url, port: Number(new URL(url).port), answered };
}

const TURN = JSON.stringify({ model: "any", input: "Owned." });
const JSON_TYPE = { "content-type": "application/json" };

type Headers = Readonly<Record<string, string | null>>;

/** Sends each set of headers with a GET and with a turn. Returns the sets that were answered. */
async function sendAll(port: number, all: readonly Headers[]): Promise<readonly string[]> {
  const through: string[] = [];
  for (const headers of all) {
    const read = await sendRaw(port, formatRequest("GET /v1/files", headers));
    if (read.status !== 403) through.push(`GET ${read.status} ${headers["host"]}`);
    const turn = formatRequest("POST /v1/responses", { ...JSON_TYPE, ...headers }, TURN);
    const ran = await sendRaw(port, turn);
    if (ran.status !== 403) through.push(`POST ${ran.status} ${headers["host"]}`);
    if (ran.text.includes("You said") || /access-control/i.test(ran.text)) through.push(ran.text);
  }
  return through;
}

const FOREIGN_HOSTS = [
  "evil.example",
  "evil.example:8484",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "127.evil.example",
  "evil.localhost",
  "localhost.",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0.0.0.0",
  "[::]",
  "user@127.0.0.1",
  "127.0.0.1:80@evil.example",
  "127.0.0.1, evil.example",
  "[::ffff:10.0.0.1]",
  "localhost:8484:8484",
  "localhost/",
  "",
];

attempt(
  {
    finding: "C5",
    surface: "server",
    tries:
      "a web page whose host name resolves to this machine (DNS rebinding) reads files and runs turns",
    shows:
      "Only localhost and loopback addresses are accepted as the Host; any other is a 403 before any route runs.",
  },
  async () => {
    const { port } = await startTarget();
    const through = await sendAll(
      port,
      FOREIGN_HOSTS.map((host) => ({ host })),
    );
    return { tried: 2 * FOREIGN_HOSTS.length, through };
  },
);

attempt(
  {
    finding: "C5",
    surface: "server",
    tries: "a web page of another origin sends requests to localhost (CSRF)",
    shows: "An Origin that is not the server's own is a 403, and no CORS header is ever sent.",
  },
  async () => {
    const { port } = await startTarget();
    const origins = [
      "https://evil.example",
      "null",
      "file://",
      "http://localhost",
      `http://127.0.0.1:${port}`,
      "http://localhost:3000",
      "http://localhost.evil.example",
      `http://localhost:${port}@evil.example`,
      "",
    ];
    const host = `localhost:${port}`;
    const through = await sendAll(
      port,
      origins.map((origin) => ({ host, origin })),
    );
    return { tried: 2 * origins.length, through };
  },
);

attempt(
  {
    finding: "C5",
    surface: "server",
    tries: "a page loads a URL of the server as an image, frame, script or link, without an Origin",
    shows:
      "Browsers mark these requests with Sec-Fetch-Site, and the server answers only none and same-origin.",
  },
  async () => {
    const { port } = await startTarget();
    const sites = ["cross-site", "same-site", "Cross-Site", "x"];
    const through = await sendAll(
      port,
      sites.map((site) => ({ "sec-fetch-site": site })),
    );
    return { tried: 2 * sites.length, through };
  },
);

attempt(
  {
    finding: "C5",
    surface: "server",
    tries: "a page posts JSON as text/plain, as a form or without a type, which needs no preflight",
    shows:
      "A body must be JSON or a multipart form by its Content-Type; others are a 415 that names the header to send.",
  },
  async () => {
    const { port, answered } = await startTarget();
    const types = [
      "text/plain",
      "text/plain; application/json",
      "application/x-www-form-urlencoded",
      "text/json",
      "application/jsonp",
      "multipart/mixed; boundary=x",
      null,
    ];
    const through: string[] = [];
    for (const type of types) {
      const sent = formatRequest("POST /v1/responses", { "content-type": type }, TURN);
      const { status, text } = await sendRaw(port, sent);
      if (status !== 415 || !text.includes("application/json")) through.push(`${status} ${type}`);
    }
    expect(answered.every((status) => status === 415)).toBe(true);
    return { tried: types.length, through };
  },
);

attempt(
  {
    finding: "C5",
    surface: "server",
    tries: "a page opens a WebSocket with a foreign Origin, a foreign Host or a cross-site mark",
    shows: "Handshakes pass the same check as requests: 403.",
  },
  async () => {
    const { url } = await startTarget();
    const all: readonly Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "http://localhost:3000" },
      { host: "evil.example" },
      { host: "evil.example", origin: "http://evil.example" },
      { "sec-fetch-site": "cross-site" },
    ];
    const through: string[] = [];
    for (const headers of all) {
      const status = await shakeHands(url, headers);
      if (status !== 403) through.push(`${status} ${JSON.stringify(headers)}`);
    }
    return { tried: all.length, through };
  },
);

async function shakeHands(url: string, headers: Record<string, string>): Promise<number> {
  const request = sendRequest(`${url}/responses`, {
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      ...headers,
    },
  });
  onTestFinished(() => void request.destroy());
  const upgraded = once(request, "upgrade").then(() => 101);
  const answered = once(request, "response").then(([response]) => Number(response.statusCode));
  request.end();
  return await Promise.race([upgraded, answered]);
}

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "a request with two Host headers, one of them localhost",
    shows: "Several Host headers are a 403, in either order.",
  },
  async () => {
    const { port } = await startTarget();
    const through: string[] = [];
    for (const hosts of [
      ["localhost", "evil.example"],
      ["evil.example", "localhost"],
      ["localhost", "localhost"],
    ]) {
      const lines = hosts.map((host) => `hOst: ${host}`).join("\r\n");
      const { status } = await sendRaw(
        port,
        `GET /v1/files HTTP/1.1\r\n${lines}\r\nconnection: close\r\n\r\n`,
      );
      if (status !== 403) through.push(`${status} ${hosts}`);
    }
    return { tried: 3, through };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "an absolute request target names a foreign host while Host says localhost",
    shows: "The host of the target must be this machine too: 403.",
  },
  async () => {
    const { port } = await startTarget();
    const targets = [
      "http://evil.example/v1/files",
      "HTTPS://evil.example",
      "ftp://localhost/v1/files",
    ];
    const through: string[] = [];
    for (const target of targets) {
      const { status } = await sendRaw(port, formatRequest(`GET ${target}`));
      if (status !== 403) through.push(`${status} ${target}`);
    }
    const { status } = await sendRaw(port, formatRequest(`GET http://localhost:${port}/v1/models`));
    expect(status).toBe(200); // as a proxy would send it
    return { tried: targets.length, through };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "a CORS preflight asks for permission to send JSON, a key or a private-network request",
    shows:
      "OPTIONS is refused, with and without a key on the server, and no access-control header is sent.",
  },
  async () => {
    const through: string[] = [];
    for (const options of [{}, { apiKey: "sk-owl" }]) {
      const { port } = await startTarget(options);
      const { status, text } = await sendRaw(
        port,
        formatRequest("OPTIONS /v1/responses", {
          origin: "https://evil.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type, authorization",
          "access-control-request-private-network": "true",
        }),
      );
      if (status < 400 || /access-control/i.test(text)) through.push(text);
    }
    return { tried: 2, through };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "an HTTP/1.0 request without any Host",
    shows: "A missing Host is refused with 403.",
  },
  async () => {
    const { port } = await startTarget();
    const { status } = await sendRaw(port, "GET /v1/files HTTP/1.0\r\n\r\n");
    return { through: status === 403 ? [] : [String(status)] };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "listening without a key on names that only look like loopback",
    shows:
      "Host names are not judged by their first letters: listen() refuses them before a socket is opened.",
  },
  async () => {
    const through: string[] = [];
    const hosts = [
      "127.evil.example",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "0",
      "::",
      "",
      "2130706433",
    ];
    for (const host of hosts) {
      const provider = new LocalProvider({ sandbox: hostSandbox() });
      onTestFinished(() => provider[Symbol.asyncDispose]());
      await provider.listen({ host }).then(
        () => through.push(host),
        (error: Error) => expect(error.message).toContain("loopback"),
      );
    }
    return { tried: hosts.length, through };
  },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "a refused request leaves its body on the connection as a second, smuggled request",
    shows: "The connection is closed after a refusal, and the body is never parsed as a request.",
  },
  async () => {
    const { port, answered } = await startTarget();
    const inner = formatRequest("POST /v1/responses", JSON_TYPE, TURN);
    const outer = formatRequest(
      "POST /v1/responses",
      { connection: "keep-alive", "content-type": "text/plain" },
      inner,
    );
    const { text } = await sendRaw(port, outer);
    const through = text.includes("You said") || answered.length > 1 ? [text] : [];
    return { through };
  },
);

describe("requests that stay possible without a key", () => {
  test.each([
    [{ host: "localhost" }],
    [{ host: "LOCALHOST:1" }],
    [{ host: "127.0.0.1:8484" }],
    [{ host: "127.8.8.8" }],
    [{ host: "[::1]:8484" }],
    [{ host: "[::ffff:7f00:1]" }],
    [{ "sec-fetch-site": "none" }],
    [{ "sec-fetch-site": "same-origin" }],
    [{ host: "localhost:7", origin: "http://localhost:7" }],
    [{ host: "localhost:7", origin: "https://LOCALHOST:7" }],
    [{ "content-type": "application/json; charset=utf-8" }],
    [{ "content-type": "application/vnd.owl+json" }],
  ])("%j", async (headers: Headers) => {
    const { port } = await startTarget();
    const sent = formatRequest("POST /v1/responses", { ...JSON_TYPE, ...headers }, TURN);
    expect((await sendRaw(port, sent)).text).toContain("You said: Owned.");
  });

  test("from hosts and pages that the options list", async () => {
    const { port } = await startTarget({
      allowedHosts: ["Wink.test"],
      allowedOrigins: ["http://localhost:5173"],
    });
    for (const headers of [
      { host: "wink.TEST:80" },
      { origin: "http://localhost:5173", "sec-fetch-site": "same-site" },
    ]) {
      const sent = formatRequest("POST /v1/responses", { ...JSON_TYPE, ...headers }, TURN);
      expect((await sendRaw(port, sent)).status).toBe(200);
    }
  });

  test("with a key on the server, from anywhere, because the key decides", async () => {
    const { port } = await startTarget({ apiKey: "sk-owl" });
    const headers = {
      authorization: "Bearer sk-owl",
      host: "evil.example",
      "content-type": "text/plain",
    };
    const sent = formatRequest("POST /v1/responses", headers, TURN);
    expect((await sendRaw(port, sent)).status).toBe(200);
  });
});

describe("a refusal", () => {
  test("has the error format of the API that the request is for, an id, and an entry in the log", async () => {
    const { port, answered } = await startTarget();
    const headers = { ...JSON_TYPE, host: "evil.example" };
    const openai = await sendRaw(port, formatRequest("POST /v1/responses", headers, TURN));
    expect(openai.text).toContain("x-request-id: req_");
    expect(openai.text).toContain('"code":"host_not_allowed"');
    expect(openai.text).toContain("--allow-host");
    for (const line of ["POST /v1/messages?beta=true", "POST /v1/files"]) {
      const version = { "anthropic-version": "2023-06-01" };
      const sent = formatRequest(line, { ...headers, ...version }, TURN);
      const { text } = await sendRaw(port, sent);
      expect(text).toMatch(/"type":"error","error":\{"type":"permission_error"/);
      expect(text).toContain("request-id: req_");
    }
    expect(answered).toEqual([403, 403, 403]);
  });
});
