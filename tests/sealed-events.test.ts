import { describe, expect, it, onTestFinished } from "vitest";
import {
  type BusEvent,
  defineSlice,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { historySlice, OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import * as z from "zod";
import { temporaryTree } from "./support/temporary-tree.ts";

const read = new Tool({
  name: "read",
  description: "Reads a page.",
  params: z.object({ page: z.number() }),
  handler: ({ page }) => ToolResult.ok(null, `Page ${page}: ${"owls ".repeat(400)}`),
});
const section = new MarkdownSection({ key: "t", title: "T", template: "Read.", tools: [read] });
const template = new PromptTemplate({ ns: "tests", key: "sealed", sections: [section] });
const call = (page: number) => ({ call: { name: "read", args: { page } } });

/** Runs an evaluation with sealed reasoning and compactions in a stored session. */
async function runSealed(strategy: "endpoint" | "server") {
  const steps = [1, 2, 3].map((page) => [{ think: `About page ${page}.` }, call(page)]);
  const model = scriptedModel([...steps, [{ think: "Done." }, { say: "Owls." }]]);
  const provider = new LocalProvider({ model });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const store = new JsonlSessionStore(temporaryTree());
  onTestFinished(() => store.close());
  const session = new Session({ id: "s", store });
  const published: BusEvent[] = [];
  session.bus.subscribe("*", (event) => published.push(event));
  const adapter = new OpenAIAdapter({
    model: "local",
    clientConfig: { fetch: provider.fetch },
    compaction: { thresholdTokens: 1_000, strategy, zdrMode: true },
  });
  await adapter.evaluate(new Prompt(template), { session });
  await session.flush();
  return { store, session, published };
}

describe.each(["endpoint", "server"] as const)("with the strategy %s, a session", (strategy) => {
  it("publishes no sealed content to subscribers of all events", async () => {
    const { session, published } = await runSealed(strategy);
    const types = new Set(published.map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining(["TurnCompleted", "ContextCompacted"]));
    expect(JSON.stringify(published)).not.toContain("wink1-");
    expect(JSON.stringify(session.get(historySlice))).toContain("wink1-");
  });

  it("stores each turn, its history step and its compaction in one record", async () => {
    const { store } = await runSealed(strategy);
    const records: Readonly<Record<string, unknown>>[] = [];
    for await (const record of store.read("s")) records.push({ ...record });
    const batches = records
      .filter(({ kind }) => kind === "events")
      .map(({ events }) => (events as { event: BusEvent }[]).map(({ event }) => event.type));
    expect(batches.filter((types) => types[0] === "TurnCompleted")).toHaveLength(4);
    expect(batches.every((types) => types.at(-1) === "HistoryAdvanced")).toBe(true);
    expect(batches.flat()).toContain("CompactionKept");
    const single = records
      .filter(({ kind }) => kind === "event")
      .map((record) => Object(record).event);
    const types = single.map(({ type }) => type);
    expect(types.filter((type) => ["TurnCompleted", "CompactionKept"].includes(type))).toEqual([]);
  });
});

it("a slice with reducers for both events never has one without the other", async () => {
  const pairs = defineSlice("pairs", {
    initial: { turns: 0, steps: 0 },
    on: {
      TurnCompleted: (state) => ({ ...state, turns: state.turns + 1 }),
      HistoryAdvanced: (state) => ({ ...state, steps: state.steps + 1 }),
    },
  });
  const session = new Session().register(pairs);
  const seen: boolean[] = [];
  session.bus.subscribe("TurnCompleted", () => {
    const { turns, steps } = session.get(pairs);
    seen.push(turns === steps);
  });
  const provider = new LocalProvider({ model: scriptedModel([[call(1)], [{ say: "Owls." }]]) });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const adapter = new OpenAIAdapter({ model: "local", clientConfig: { fetch: provider.fetch } });
  await adapter.evaluate(new Prompt(template), { session });
  expect(seen).toEqual([true, true]);
});
