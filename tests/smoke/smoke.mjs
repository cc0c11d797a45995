// A user's first minute, in plain JavaScript, on whichever Node runs this: each door opens, and an
// agent with a tool, a failing call and structured output runs to its end.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  defineSlice,
  jsonSchema,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  PromptValidationError,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import * as files from "weakincentives/files";
import { AgentLoop, Fleet } from "weakincentives/fleet";
import { McpToolsSection } from "weakincentives/mcp";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { adapterContract, scriptedClient, scriptedSubject } from "weakincentives/testing";

assert.equal(typeof files, "object");

const number = (name) =>
  jsonSchema({ type: "object", properties: { [name]: { type: "number" } }, required: [name] });

const count = defineSlice("count", {
  initial: 0,
  on: { Counted: (total, { by }) => total + by },
});
const add = new Tool({
  name: "add",
  description: "Adds to the count.",
  params: number("by"),
  handler: ({ by }, { session }) => {
    session.dispatch({ type: "Counted", by });
    return by < 0 ? ToolResult.error("no") : ToolResult.ok(by);
  },
});
const sections = [
  new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Count to $goal.",
    params: number("goal"),
    tools: [add],
  }),
];
const template = new PromptTemplate({
  ns: "smoke",
  key: "count",
  sections,
  output: number("count"),
});
const model = scriptedClient(
  {
    toolCalls: [
      { name: "add", arguments: { by: 2 } },
      { name: "add", arguments: { by: -1 } },
    ],
  },
  { text: '{"count":2}' },
);
const directory = await mkdtemp(join(tmpdir(), "wink-smoke-"));
const store = new JsonlSessionStore(directory);
const session = new Session({ id: "smoke", store }).register(count);
const { output } = await model.evaluate(new Prompt(template).bind({ goal: 2 }), { session });
assert.deepEqual(output, { count: 2 });
assert.equal(session.get(count), 2);
assert.throws(() => new Prompt(template).bind({ gaol: 2 }), PromptValidationError);
await session.flush();
await store.close();
const again = await Session.open(new JsonlSessionStore(directory), "smoke", [count]);
assert.equal(again.get(count), 2);
await rm(directory, { recursive: true });

const answer = {
  status: "completed",
  output: [
    { type: "message", role: "assistant", content: [{ type: "output_text", text: '{"count":1}' }] },
  ],
};
const { createServer } = await import("node:http");
const server = createServer((_, response) => response.end(JSON.stringify(answer)));
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseURL = `http://127.0.0.1:${server.address().port}`;
for (const clientConfig of [{ baseURL }, { baseURL, fetch }]) {
  const adapter = new OpenAIAdapter({ model: "gpt-5", clientConfig });
  const prompt = new Prompt(template).bind({ goal: 1 });
  const response = await adapter.evaluate(prompt, { session: new Session() });
  assert.deepEqual(response.output, { count: 1 });
}
server.close();

// The MCP client is an optional peer, which is not installed here.
const mcp = new McpToolsSection({ server: { url: baseURL } });
const context = { session: new Session(), signal: new AbortController().signal };
await assert.rejects(mcp.prepare(context), /Run npm install @modelcontextprotocol\/client\./);
await mcp.release(context);

// A loop runs without a queue. With its packages, which `scripts/smoke.ts` adds, it also runs on a fleet in a folder.
const loop = new AgentLoop({
  name: "count",
  request: number("goal"),
  prepare: ({ goal }) => new Prompt(template).bind({ goal }),
  adapter: () =>
    scriptedClient(
      () => ({ text: '{"count":3}' }),
      () => ({ text: '{"count":3}' }),
    ),
});
assert.deepEqual(await loop.execute({ goal: 3 }), { count: 3 });
const folder = await mkdtemp(join(tmpdir(), "wink-smoke-fleet-"));
let fleetChecks = "a fleet without its packages";
try {
  import.meta.resolve("@electric-sql/pglite");
  const fleet = await Fleet.open({ folder });
  const stop = new AbortController();
  const working = fleet.worker([loop]).run({ signal: stop.signal });
  const { id } = await fleet.enqueue(loop, { goal: 3 });
  assert.deepEqual(await fleet.result(id), { count: 3 });
  stop.abort();
  await working;
  await fleet.close();
  fleetChecks = "a fleet in a folder";
} catch (error) {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  await assert.rejects(Fleet.open({ folder }), /Run npm install @electric-sql\/pglite\./);
}
await rm(folder, { recursive: true });

const contract = adapterContract(scriptedSubject);
for (const { run } of contract) await run();

console.log(
  `smoke: ${contract.length + 9} checks held on Node ${process.version}, with ${fleetChecks}`,
);
