import { Session } from "../../session/session.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectContains, expectSame } from "./expect.ts";
import { createPrompt, wordTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const THRESHOLD = 2_000;
const long = "owl ".repeat(4 * THRESHOLD);

/** Returns a long page or a short one. */
const pageTool = wordTool("page", ({ word }) => ToolResult.ok(word === "long" ? long : "barn"));
const callPage = (word: string) => ({ toolCalls: [{ name: "page", arguments: { word } }] });

/** Cases about conversations that grow too long. */
export const compactionCases: readonly ContractCase[] = [
  {
    name: "compacts a conversation that grows too long, publishes an event, and continues",
    compactsOver: THRESHOLD,
    // The usage that a provider would report for a conversation so long that any runtime compacts
    // it.
    script: [
      callPage("long"),
      { ...callPage("short"), usage: { inputTokens: 150_000, outputTokens: 10 } },
      { text: "Done." },
    ],
    async check({ adapter, asked }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      const { text } = await adapter.evaluate(createPrompt([pageTool]), { session });
      expectSame(text, "Done.", "the answer");
      const events = bus.of("ContextCompacted");
      expectSame(events.length, 1, "ContextCompacted events");
      expectSame(events[0]?.adapter, adapter.name, "the adapter of the event");
      expectSame(
        Number(events[0]?.tokensBefore) > THRESHOLD,
        true,
        "tokensBefore is over the threshold",
      );
      const last = asked().at(-1);
      expectContains(last, "Do what the contract says.", "the next request");
      expectSame(last?.includes("owl owl owl"), false, "the next request contains the long page");
    },
  },
];
