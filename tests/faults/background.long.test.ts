import { describe, expect, test } from "vitest";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  type StreamEvent,
  Tool,
  ToolResult,
} from "weakincentives";
import type { ModelAction } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { fakeClock, recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { type Cut, startCuttingProxy } from "../support/faults/cutting-proxy.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";
import { clients } from "../support/openai-clients.ts";

const script: ModelAction[][] = [
  [{ think: "I need two numbers." }, { code: "print(20 + 1)" }],
  [{ call: { name: "add", args: { a: 20, b: 1 } } }],
  [{ say: "Both agree: the sum of twenty and one is 21, by code and by hand. ".repeat(4) }],
];

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.strictObject({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok(null, String(a + b)),
});

const section = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Add 20 and 1.",
  tools: [add],
  hostedTools: [codeInterpreterTool()],
});
const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "sum", sections: [section] }));

/** Runs the script through a proxy that cuts connections, and returns all that an evaluation shows. */
async function run(
  client: (typeof clients)[number][1],
  plan: Parameters<typeof startCuttingProxy>[1],
  clientConfig: object = {},
) {
  const { url } = await startProviderFixture(script);
  const proxy = await startCuttingProxy(url, plan);
  const options = client(proxy.url);
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    delivery: "background",
    clock: fakeClock({ skipsSleep: true }),
    ...options,
    ...(options.clientConfig && { clientConfig: { ...options.clientConfig, ...clientConfig } }),
  });
  const bus = recordingBus();
  const stream = adapter.stream(prompt, { session: new Session({ bus }) });
  const parts: StreamEvent[] = [];
  for await (const event of stream) if (event.type !== "bus") parts.push(event);
  const { text, usage, finishReason, hostedCalls } = await stream.response;
  const calls = bus.of("ToolInvoked").map(({ name, params, result }) => ({ name, params, result }));
  return {
    // Ids differ from run to run.
    result: JSON.parse(
      JSON.stringify({ text, usage, finishReason, parts, calls, hosted: hostedCalls.length }),
      (key, value) => (/^(id|callId|containerId)$/.test(key) ? key : value),
    ),
    proxy,
  };
}

/** Cuts every connection that has more than this many events. */
const cutAfter =
  (events: number, more: Cut = {}) =>
  (request: { readonly route: string }) =>
    /\/responses(\/\w+)?$/.test(request.route) ? { ...more, events } : null;

describe.each(clients)('delivery: "background" on %s', (_, client) => {
  let uncut: Awaited<ReturnType<typeof run>> | null = null;

  test.each<readonly [string, (request: { readonly route: string }, index: number) => Cut | null]>([
    ...[1, 2, 3, 5, 8, 13].map((n) => [`after every ${n} events`, cutAfter(n)] as const),
    ["within every third event", cutAfter(2, { half: true })],
    ["within every third event, as if it were complete", cutAfter(2, { half: true, by: "end" })],
    ["after every second event, as if it were complete", cutAfter(2, { by: "end" })],
    ["before every other event, with delays", cutAfter(1, { delayMs: 2 })],
    [
      "before the headers of every other retrieval",
      (request, index) =>
        request.route.startsWith("GET") && index % 2 === 1 ? { events: 0 } : cutAfter(3)(request),
    ],
    [
      "before every other request is passed on",
      (request, index) => (index % 2 === 0 ? { refuses: true } : cutAfter(4)(request)),
    ],
  ])("gives the result of an uncut connection if it is cut %s", async (_title, plan) => {
    uncut ??= await run(client, () => null);
    const cut = await run(client, plan);
    expect(cut.result).toEqual(uncut.result);
    expect(uncut.proxy).toMatchObject({ created: 2, cuts: 0 });
    expect(cut.proxy.created).toBe(2);
    expect(cut.proxy.cuts).toBeGreaterThan(1);
  });

  test("resumes a stream on which nothing arrives", async () => {
    const stall: Parameters<typeof run>[1] = ({ route }, index) =>
      route.startsWith("POST /v1/responses") && index < 3 ? { events: 4, stalls: true } : null;
    if (client("http://x").client) return; // its timeout is an option of the client itself
    const { result, proxy } = await run(client, stall, { timeoutMs: 1_500 });
    expect(result.text).toContain("21, by code and by hand");
    expect(proxy.created).toBe(2);
  });
});
