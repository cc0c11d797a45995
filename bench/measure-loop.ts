import { performance } from "node:perf_hooks";
import {
  defineSlice,
  evaluate,
  MarkdownSection,
  type ModelClient,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
  type Turn,
  toolLog,
} from "weakincentives";
import * as z from "zod";
import { median } from "./median.ts";

const STEPS = 5_000;
/** The number of steps to average on each side of the reported step, whose own time is mostly noise. */
const AROUND = 100;

const calls = defineSlice("bench.calls", {
  initial: { count: 0 },
  on: { ToolInvoked: ({ count }) => ({ count: count + 1 }) },
});

const tool = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok({ sum: a + b }),
});
const section = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Add.",
  tools: [tool],
});
const prompt = new Prompt(new PromptTemplate({ ns: "bench", key: "loop", sections: [section] }));

/** Runs one loop of 5,000 tool calls. Returns the cost of an early and of a late step in microseconds. */
export async function measureLoop(): Promise<{ readonly early: number; readonly late: number }> {
  const starts = new Float64Array(STEPS + 1);
  const session = new Session().register(toolLog).register(calls);
  session.bus.subscribe("TurnStarted", ({ turn }) => {
    starts[turn - 1] = performance.now();
  });
  await adapter.evaluate(prompt, { session, maxTurns: STEPS + 1 });
  if (session.get(toolLog).length !== STEPS) throw new Error("not every call was logged");
  const costAt = (step: number) => {
    const steps = [...starts.subarray(step - AROUND, step + AROUND)];
    return 1_000 * median(steps.slice(1).map((start, index) => start - (steps[index] ?? start)));
  };
  return { early: costAt(AROUND), late: costAt(STEPS - AROUND) };
}

/** Calls the tool 5,000 times, then answers. */
const client: ModelClient = {
  adapterName: "bench",
  async send({ turn }): Promise<Turn> {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 0,
      reasoningTokens: 0,
      totalTokens: 15,
    };
    const toolCalls = [{ name: "add", callId: `call_${turn}`, arguments: '{"a":1,"b":2}' }];
    const rest = {
      hostedCalls: [],
      citations: [],
      usage,
      responseId: null,
      requestId: null,
      model: null,
    };
    return turn <= STEPS
      ? { ...rest, text: "", toolCalls, finishReason: "tool_calls" }
      : { ...rest, text: "Done.", toolCalls: [], finishReason: "stop" };
  },
};

const adapter: ProviderAdapter = {
  name: "bench",
  evaluate: (given, options) => evaluate(given, client, { ...options, adapter }),
};
