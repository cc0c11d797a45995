/** A tool call that fails halfway is rolled back in the session. The model reads the reason and continues. */
import {
  defineSlice,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
  toolLog,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

declare module "weakincentives" {
  interface EventMap {
    Reserved: { readonly type: "Reserved"; readonly seat: string };
  }
}

const reserved = defineSlice<readonly string[]>("cinema.reserved", {
  initial: [],
  on: { Reserved: (seats, { seat }) => [...seats, seat] },
});

const reserve = new Tool({
  name: "reserve",
  description: "Reserves all of these seats, or none.",
  params: z.object({ seats: z.array(z.string()) }),
  handler: ({ seats }, { session }) => {
    for (const seat of seats) {
      if (session.get(reserved).includes(seat)) return ToolResult.error(`${seat} is taken.`);
      session.dispatch({ type: "Reserved", seat });
    }
    return ToolResult.ok(seats, `Reserved ${seats.join(" and ")}.`);
  },
});

const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Reserve two adjacent seats in row C, which has the seats C1 to C9.",
  tools: [reserve],
});
const template = new PromptTemplate({ ns: "cinema", key: "reserve", sections: [task] });

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const adapter: ProviderAdapter = process.argv.includes("--live")
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(
      { toolCalls: [{ name: "reserve", arguments: { seats: ["C4", "C5"] } }] },
      { toolCalls: [{ name: "reserve", arguments: { seats: ["C7", "C8"] } }] },
      { text: "Seats C7 and C8 are yours." },
    );
const session = new Session().register(reserved).register(toolLog);
session.dispatch({ type: "Reserved", seat: "C5" });
const { text } = await adapter.evaluate(new Prompt(template), { session });

for (const { params, result } of session.get(toolLog)) {
  console.log(JSON.stringify(params), result.success ? "→" : "✗", result.message);
}
console.log(`${text} Reserved: ${session.get(reserved).join(", ")}.`);
// prints: {"seats":["C4","C5"]} ✗ C5 is taken.
// prints: {"seats":["C7","C8"]} → Reserved C7 and C8.
// prints: Seats C7 and C8 are yours. Reserved: C5, C7, C8.
