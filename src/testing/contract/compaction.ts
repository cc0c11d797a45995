import { Session } from "../../session/session.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { recordingBus } from "../recording-bus.ts";
import { holds, same } from "./expect.ts";
import { promptWith, wordTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const THRESHOLD = 2_000;
const long = "owl ".repeat(4 * THRESHOLD);

/** Reads a long page or a short one. */
const pageTool = wordTool("page", ({ word }) => ToolResult.ok(word === "long" ? long : "barn"));
const page = (word: string) => ({ toolCalls: [{ name: "page", arguments: { word } }] });

/** Conversations that grow too long. */
export const compactionCases: readonly ContractCase[] = [
  {
    name: "a conversation that grows too long is made shorter, which is an event, and goes on",
    compactsOver: THRESHOLD,
    // The usage is what a provider would say of a conversation that no runtime lets grow further.
    script: [
      page("long"),
      { ...page("short"), usage: { inputTokens: 150_000, outputTokens: 10 } },
      { text: "Done." },
    ],
    async check({ adapter, asked }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      const { text } = await adapter.evaluate(promptWith([pageTool]), { session });
      same(text, "Done.", "the answer");
      const events = bus.of("ContextCompacted");
      same(events.length, 1, "ContextCompacted events");
      same(events[0]?.adapter, adapter.name, "whose event it is");
      same(Number(events[0]?.tokensBefore) > THRESHOLD, true, "tokensBefore is over the threshold");
      const last = asked().at(-1);
      holds(last, "Do what the contract says.", "the request after that");
      same(last?.includes("owl owl owl"), false, "the request after that has all of the long page");
    },
  },
];
