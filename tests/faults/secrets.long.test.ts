import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { codeInterpreterTool, mcpTool } from "weakincentives";
import {
  createFaultSetup,
  createTextResponse,
  type FaultSetup,
  type FaultSetupOptions,
  ourClients,
} from "../support/faults/fault-setup.ts";
import { clients, testKey } from "../support/openai-clients.ts";
import {
  functionCall,
  message,
  type SeenRequest,
  type WireAnswer,
} from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");

/** Formats all data that a failed evaluation exposes: errors, logs, events and the session. */
function collectTraces(error: unknown, { logged, bus, session }: FaultSetup): string {
  const links: unknown[] = [];
  for (let link = error; link instanceof Error; link = link.cause) {
    const { message: said, stack, cause } = link;
    links.push(said, stack, String(link), JSON.stringify(link), cause, { ...link });
    if ("providerPayload" in link) links.push(link.providerPayload);
    if ("body" in link) links.push(link.body);
  }
  const options = { depth: 10, maxStringLength: null, maxArrayLength: null, showHidden: true };
  const seen = [error, links, logged, bus.events, session.serialize()];
  return seen.map((trace) => inspect(trace, options)).join("\n");
}

const createPage = (words: string) => ({
  bytes: `<html><body>${words}</body></html>`,
  headers: { "content-type": "text/html" },
});

type Echo = (authorization: string) => WireAnswer;

const echoes: readonly [string, Echo][] = [
  ["the words of status 401", (said) => ({ status: 401, error: { message: `Bad key: ${said}` } })],
  ["the words of status 500", (said) => ({ status: 500, error: { message: `Bad key: ${said}` } })],
  [
    "every part of an error",
    (said) => ({
      status: 400,
      error: { message: said, code: testKey, param: said, type: said, [said]: { a: [said] } },
    }),
  ],
  ["a body beside the error", (said) => ({ status: 400, json: { error: "no", headers: [said] } })],
  ["an error that is a text", (said) => ({ status: 403, json: { error: said } })],
  [
    "a page with a status that says no",
    (said) => ({ raw: (_, response) => void response.writeHead(502).end(`<html>${said}</html>`) }),
  ],
  ["a page", (said) => createPage(said)],
  ["a page, at its start", (said) => ({ ...createPage(said), bytes: `${said}<html>` })],
  [
    "truncated JSON",
    (said) => createTextResponse(`{"id":"resp_1","metadata":{"key":"${said}"},"out`),
  ],
  ["what is no JSON", (said) => createTextResponse(said)],
  ["what is no JSON, in an address", () => createTextResponse(encodeURIComponent(`<${testKey}>`))],
  ["a list", (said) => ({ json: [said] })],
  ["a text", (said) => ({ json: said })],
  [
    "a redirection",
    (said) => ({
      raw: (_, response) =>
        void response
          .writeHead(302, { location: `https://x.example/${testKey}?k=${encodeURI(said)}` })
          .end(),
    }),
  ],
  [
    "the id of a request",
    (said) => ({ status: 400, error: { message: "No." }, headers: { "x-request-id": said } }),
  ],
];

/** Responses with status 200 that are valid JSON but not valid answers. */
const falseAnswers: readonly [string, Echo][] = [
  ["an error's words", (said) => ({ json: { error: { code: "bad_karma", message: said } } })],
  ["an error's code", (said) => ({ json: { error: { code: said, message: "No." } } })],
  ["an error that is a text", (said) => ({ json: { error: said } })],
  [
    "an error to try again after",
    (said) => createFailedResponse({ code: "server_error", message: said }),
  ],
  [
    "a response that failed",
    (said) => createFailedResponse({ code: "invalid_prompt", message: said }),
  ],
  ["a response's status", (said) => ({ json: { id: "resp_1", status: said, output: [] } })],
  ["a response that was cancelled", (said) => ({ json: { status: "cancelled", user: said } })],
  ["an output that is a text", (said) => ({ json: { status: "completed", output: said } })],
  ["a response without output", (said) => ({ json: { status: "completed", user: said } })],
  ["a response with nothing in it", (said) => ({ json: { output: [], metadata: { said } } })],
];

function createFailedResponse(error: {
  readonly code: string;
  readonly message: string;
}): WireAnswer {
  return { output: [], error };
}

const createEchoScript = (echo: Echo) => {
  let asked = 0;
  return ({ headers }: SeenRequest): WireAnswer => {
    asked += 1;
    return asked === 1 ? [addition] : echo(String(headers["authorization"]));
  };
};

describe.each(clients)("on %s, an API key that the server repeats in", (_name, client) => {
  test.each([...echoes, ...falseAnswers])("%s is never revealed", async (_where, echo) => {
    await using at = await createFaultSetup(client, createEchoScript(echo));
    const error = await at.getFailure();
    expect(error).toMatchObject({ name: expect.stringMatching(/^(Prompt.*|Throttle)Error$/) });
    expect(at.turns[1]?.headers["authorization"]).toBe(`Bearer ${testKey}`);
    const traces = collectTraces(error, at);
    expect(traces).not.toContain(testKey);
    expect(traces).not.toContain(testKey.slice(3)); // not even without its prefix
  });
});

describe.each(ourClients)("on %s, a caller's own secret", (_name, client) => {
  test("in headers or the query is never revealed", async () => {
    const secrets = ["tok-9f8e7d6c5b4a", "ck-1234567890ab", "q-0a1b2c3d4e5f"];
    const [token = "", cookie = "", query = ""] = secrets;
    const clientConfig = {
      headers: { "X-Proxy-Token": token, Cookie: `a=1; session=${cookie}` },
      query: { "api-key": query },
    };
    const script = (seen: SeenRequest): WireAnswer => {
      const echo = JSON.stringify([seen.headers, [...seen.query]]);
      return { status: 400, error: { message: echo } };
    };
    await using at = await createFaultSetup(client, script, { clientConfig });
    const error = await at.getFailure();
    const traces = collectTraces(error, at);
    for (const secret of [testKey, ...secrets]) expect(traces).not.toContain(secret);
  });
});

const token = "mcp-5f4e3d2c1b0a";
const header = "hdr-0a1b2c3d4e5f";
const domain = "dom-a1b2c3d4e5f6";
const domainSecrets = [{ domain: "api.example", name: "KEY", value: domain }];
const networkPolicy = {
  type: "allowlist",
  allowedDomains: ["api.example"],
  domainSecrets,
} as const;
const guarded: FaultSetupOptions = {
  hostedTools: [
    mcpTool({
      serverLabel: "docs",
      serverUrl: "https://docs.example/mcp",
      authorization: token,
      headers: { "X-Access": header },
    }),
    codeInterpreterTool({ container: { type: "auto", networkPolicy } }),
  ],
};

describe.each(clients)("on %s, a tool's secret", (_name, client) => {
  const secrets = [token, header, domain];

  test.each<[string, (tools: string) => WireAnswer]>([
    ["a status that says no", (tools) => ({ status: 400, error: { message: tools } })],
    [
      "every part of an error",
      (tools) => ({
        status: 400,
        error: { message: "No.", code: tools, type: tools, param: tools },
      }),
    ],
    ["a body beside the error", (tools) => ({ status: 500, json: { error: "no", tools } })],
    ["what is no JSON", (tools) => createTextResponse(`no: ${tools}`)],
    ["an error with status 200", (tools) => ({ json: { error: { code: "x", message: tools } } })],
    ["a response that was cancelled", (tools) => ({ json: { status: "cancelled", tools } })],
  ])("that the server repeats in %s is never revealed", async (_where, echo) => {
    const script = ({ body }: SeenRequest) => echo(JSON.stringify(body["tools"]));
    await using at = await createFaultSetup(client, script, guarded);
    const error = await at.getFailure();
    for (const secret of secrets) expect(at.turns[0]?.text).toContain(secret);
    const traces = collectTraces(error, at);
    expect(secrets.filter((secret) => traces.includes(secret))).toEqual([]);
  });

  test("is in no event, log or session of a successful evaluation", async () => {
    await using at = await createFaultSetup(client, [[addition], [message("Three.")]], guarded);
    const response = await at.evaluate();
    const traces =
      collectTraces(null, at) + inspect(response, { depth: 20, maxStringLength: null });
    expect([testKey, ...secrets].filter((secret) => traces.includes(secret))).toEqual([]);
  });
});
