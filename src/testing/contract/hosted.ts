import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { recordingBus } from "../recording-bus.ts";
import { failure, same } from "./expect.ts";
import { noteTool, promptWith } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const searched = {
  name: "web_search",
  kind: "web_search",
  callId: "ws_1",
  params: {},
  output: { text: "Owls." },
};

/** Hosted calls: events, outputs, gates. */
export const hostedCases: readonly ContractCase[] = [
  {
    name: "a hosted call is an ordinary event with its origin, before the calls of the same turn",
    script: [
      { hostedCalls: [searched], toolCalls: [{ name: "note", arguments: { word: "a" } }] },
      { text: "Done." },
    ],
    async check({ adapter }) {
      const bus = recordingBus();
      const prompt = promptWith([noteTool], [webSearchTool()]);
      const response = await adapter.evaluate(prompt, { session: new Session({ bus }) });
      const events = bus.of("ToolInvoked");
      same(
        events.map(({ name }) => name),
        ["web_search", "note"],
        "ToolInvoked",
      );
      same(events[0]?.origin?.capability, "web_search", "origin");
      same(events[1]?.origin, undefined, "origin of a call that ran here");
      same(
        response.hostedCalls.map(({ name }) => name),
        ["web_search"],
        "hostedCalls",
      );
      same(response.hostedOutputs.has("web_search"), true, "hostedOutputs");
    },
  },
  {
    name: "allowHostedTools leaves hosted tools out, with an event",
    script: [{ text: "Done." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const prompt = promptWith([], [webSearchTool()]);
      await adapter.evaluate(prompt, { session: new Session({ bus }), allowHostedTools: false });
      same(
        bus.of("HostedToolOmitted").map(({ name }) => name),
        ["web_search"],
        "HostedToolOmitted",
      );
      same(bus.of("PromptRendered")[0]?.hostedTools, [], "PromptRendered");
    },
  },
  {
    name: "another provider's tool is refused before anything is sent",
    script: [{ text: "never" }],
    async check({ adapter, asked }) {
      const about = { kind: "web_search", name: "search", description: "Searches.", config: {} };
      const foreign = new HostedTool({ ...about, provider: "nobody" });
      const work = adapter.evaluate(promptWith([], [foreign]), { session: new Session() });
      const error = await failure(work, PromptEvaluationError);
      same([error.phase, asked().length], ["request", 0], "error");
    },
  },
  {
    name: "a tool choice that names nothing is refused before anything is sent",
    script: [{ text: "never" }],
    async check({ adapter, asked }) {
      const toolChoice = { type: "built_in", name: "nought" } as const;
      const work = adapter.evaluate(promptWith(), { session: new Session(), toolChoice });
      const error = await failure(work, PromptEvaluationError);
      same([error.phase, asked().length], ["request", 0], "error");
    },
  },
];
