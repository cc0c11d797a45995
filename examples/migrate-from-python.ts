/** The greenhouse agent of the Python guide in TypeScript: sections, a tool, a slice, a deadline and a budget. */
import {
  Budget,
  Deadline,
  defineSlice,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

// Python: @dataclass(slots=True, frozen=True). Here: a schema, and its type if you need it.
const Bench = z.object({ bench: z.string() });
const Report = z.object({ isTooWarm: z.boolean(), advice: z.string() });
type Reading = { readonly bench: string; readonly celsius: number };

// Python: session[Reading]. Here: a slice with a name, and the event that changes it.
declare module "weakincentives" {
  interface EventMap {
    BenchRead: Reading & { readonly type: "BenchRead" };
  }
}
const readings = defineSlice<readonly Reading[]>("greenhouse.readings", {
  initial: [],
  on: { BenchRead: (all, { bench, celsius }) => [...all, { bench, celsius }] },
});

const readBench = new Tool({
  name: "read_bench",
  description: "Reads the thermometer of one bench.",
  params: Bench,
  handler: ({ bench }, { session }) => {
    const reading = { bench, celsius: 31.5 };
    if (bench !== "tomatoes") return ToolResult.error(`There is no bench "${bench}".`);
    session.dispatch({ type: "BenchRead", ...reading });
    return ToolResult.ok(reading, "Read the thermometer.");
  },
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Is the bench $bench too warm for the night? The limit is 18 °C.",
  params: Bench,
  tools: [readBench],
});
const template = new PromptTemplate({
  ns: "greenhouse",
  key: "night",
  sections: [task],
  output: Report,
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const adapter: ProviderAdapter = process.argv.includes("--live")
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(
      { toolCalls: [{ name: "read_bench", arguments: { bench: "roses" } }] },
      { toolCalls: [{ name: "read_bench", arguments: { bench: "tomatoes" } }] },
      { text: '{ "isTooWarm": true, "advice": "Open the vents." }' },
    );

const session = new Session().register(readings);
session.bus.subscribe("ToolInvoked", ({ name, result }) =>
  console.log(`${name}: ${result.message}`),
);
const { output } = await adapter.evaluate(new Prompt(template).bind({ bench: "tomatoes" }), {
  session,
  deadline: Deadline.after(10 * 60_000),
  budget: new Budget({ maxTotalTokens: 50_000 }),
});
console.log(output.isTooWarm ? output.advice : "All is well.");
console.log(session.get(readings));
// prints: read_bench: There is no bench "roses".
// prints: read_bench: Read the thermometer.
// prints: Open the vents.
// prints: [ { bench: 'tomatoes', celsius: 31.5 } ]
