/** A tool call that fails halfway is undone: in the session, in a file and in a resource. The model tries again. */
import {
  defineSlice,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  ResourceRegistry,
  resource,
  Session,
  Tool,
  ToolResult,
  VfsToolsSection,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
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

/** A resource takes part in the rollback because it has `snapshot` and `restore`. */
class Till {
  cents = 0;
  snapshot = () => this.cents;
  restore = (cents: number) => {
    this.cents = cents;
  };
}
const till = resource<Till>("till");

const reserve = new Tool({
  name: "reserve",
  description: "Reserves all of these seats, or none.",
  params: z.object({ seats: z.array(z.string()) }),
  handler: async ({ seats }, { session, filesystem, resources }) => {
    for (const seat of seats) {
      resources.get(till).cents += 1_200;
      await filesystem?.writeText(`tickets/${seat}.txt`, `Seat ${seat}`);
      // Nothing is cleaned up here: the failed call is rolled back as a whole.
      if (session.get(reserved).includes(seat)) return ToolResult.error(`${seat} is taken.`);
      session.dispatch({ type: "Reserved", seat });
    }
    return ToolResult.ok(seats);
  },
});

const filesystem = new InMemoryFilesystem();
const desk = new Till();
const template = new PromptTemplate({
  ns: "cinema",
  key: "reserve",
  sections: [
    new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Reserve two adjacent seats: C4 and C5, or else C7 and C8.",
      tools: [reserve],
    }),
    new VfsToolsSection({ filesystem }),
  ],
  resources: new ResourceRegistry().bind(till, desk),
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const call = (...seats: string[]) => ({ toolCalls: [{ name: "reserve", arguments: { seats } }] });
const adapter: ProviderAdapter = process.argv.includes("--live")
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(call("C4", "C5"), call("C7", "C8"), { text: "Seats C7 and C8 are yours." });

const session = new Session().register(reserved);
session.dispatch({ type: "Reserved", seat: "C5" });
session.bus.subscribe("ToolInvoked", ({ params, result }) =>
  console.log(JSON.stringify(params), result.success ? "succeeded" : `failed: ${result.message}`),
);
const { text } = await adapter.evaluate(new Prompt(template), { session });
console.log(text);
console.log(`Reserved: ${session.get(reserved).join(", ")}`);
console.log(`Tickets: ${(await filesystem.glob("tickets/*")).join(", ")}`);
console.log(`In the till: ${desk.cents / 100}`);
// prints: {"seats":["C4","C5"]} failed: C5 is taken.
// prints: {"seats":["C7","C8"]} succeeded
// prints: Seats C7 and C8 are yours.
// prints: Reserved: C5, C7, C8
// prints: Tickets: tickets/C7.txt, tickets/C8.txt
// prints: In the till: 24
