// A user's first minute, in plain JavaScript, on whichever Node runs this: each door opens, and an
// agent with a tool, a failing call and structured output runs to its end.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  defineSlice,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  PromptValidationError,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import * as files from "weakincentives/files";
import { JsonlSessionStore } from "weakincentives/stores";
import { adapterContract, scriptedClient, scriptedSubject } from "weakincentives/testing";
import * as z from "zod";

assert.equal(typeof files, "object");

const count = defineSlice("count", {
  initial: 0,
  on: { Counted: (total, { by }) => total + by },
});
const add = new Tool({
  name: "add",
  description: "Adds to the count.",
  params: z.object({ by: z.number() }),
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
    params: z.object({ goal: z.number() }),
    tools: [add],
  }),
];
const template = new PromptTemplate({
  ns: "smoke",
  key: "count",
  sections,
  output: z.object({ count: z.number() }),
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

const contract = adapterContract(scriptedSubject);
for (const { run } of contract) await run();

console.log(`smoke: ${contract.length + 4} checks held on Node ${process.version}`);
