/** A worker for edge runtimes: one route runs a tool and answers at once, the other streams. Node calls it here. */
import { definePrompt, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of one kind that are left.",
  params: z.object({ kind: z.enum(["rye", "wheat"]) }),
  handler: ({ kind }) => ToolResult.ok({ left: kind === "rye" ? 3 : 7 }),
});
const baker = definePrompt({
  name: "bakery:baker",
  instructions: "Decide how many loaves to bake tonight. The shelf holds 15 of each kind.",
  tools: [countLoaves],
});

/** The secrets and variables of the worker. */
interface Env {
  readonly OPENAI_API_KEY?: string;
  readonly OPENAI_BASE_URL?: string;
}

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    const clientConfig = { apiKey: env.OPENAI_API_KEY, baseURL: env.OPENAI_BASE_URL };
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
    const { pathname } = new URL(request.url);
    const options = { input: await request.text(), signal: request.signal };
    if (pathname === "/stream") return adapter.stream(baker, options).toResponse();
    const { text } = await adapter.evaluate(baker, options);
    return Response.json({ text });
  },
};

// The rest calls the worker in Node. On an edge runtime, write `export default worker;` instead.
// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const count = { call: { name: "count_loaves", args: { kind: "rye" } } };
const provider = new LocalProvider({
  model: scriptedModel([
    [count],
    [{ say: "Bake 12 loaves of rye." }],
    [count],
    [{ say: "Bake 12 loaves of rye." }],
  ]),
});
try {
  const isLive = process.argv.includes("--live");
  const env = isLive
    ? {}
    : { OPENAI_API_KEY: "local", OPENAI_BASE_URL: (await provider.listen()).url };
  for (const path of ["/", "/stream"]) {
    const request = { method: "POST", body: "How many loaves of rye?" };
    const response = await worker.fetch(new Request(`https://bakery.example${path}`, request), env);
    console.log(`POST ${path}: ${response.headers.get("content-type")}`);
    // The last event of the stream, the whole response, is not printed.
    console.log((await response.text()).split("\n\nevent: ")[0]?.replaceAll("\n\n", "\n"));
  }
} finally {
  await provider.close();
}
// prints: POST /: application/json
// prints: {"text":"Bake 12 loaves of rye."}
// prints: POST /stream: text/event-stream
// prints: data: {"type":"text","turn":2,"delta":"Bake 12 loaves o"}
// prints: data: {"type":"text","turn":2,"delta":"f rye."}
