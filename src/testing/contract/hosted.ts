import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectRejection, expectSame } from "./expect.ts";
import { createPrompt, noteTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const searchCall = {
  name: "web_search",
  kind: "web_search",
  callId: "ws_1",
  params: {},
  output: { text: "Owls." },
};

/** Cases about hosted calls: events, outputs and permissions. */
export const hostedCases: readonly ContractCase[] = [
  {
    name: "publishes a hosted call as ToolInvoked with its origin, before the local calls of its turn",
    script: [
      { hostedCalls: [searchCall], toolCalls: [{ name: "note", arguments: { word: "a" } }] },
      { text: "Done." },
    ],
    async check({ adapter }) {
      const bus = recordingBus();
      const prompt = createPrompt([noteTool], [webSearchTool()]);
      const response = await adapter.evaluate(prompt, { session: new Session({ bus }) });
      const events = bus.of("ToolInvoked");
      expectSame(
        events.map(({ name }) => name),
        ["web_search", "note"],
        "ToolInvoked",
      );
      expectSame(events[0]?.origin?.capability, "web_search", "origin");
      expectSame(events[1]?.origin, undefined, "origin of a local call");
      expectSame(
        response.hostedCalls.map(({ name }) => name),
        ["web_search"],
        "hostedCalls",
      );
      expectSame(response.hostedOutputs.has("web_search"), true, "hostedOutputs");
    },
  },
  {
    name: "omits hosted tools that allowHostedTools forbids, and publishes HostedToolOmitted",
    script: [{ text: "Done." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const prompt = createPrompt([], [webSearchTool()]);
      await adapter.evaluate(prompt, { session: new Session({ bus }), allowHostedTools: false });
      expectSame(
        bus.of("HostedToolOmitted").map(({ name }) => name),
        ["web_search"],
        "HostedToolOmitted",
      );
      expectSame(bus.of("PromptRendered")[0]?.hostedTools, [], "PromptRendered");
    },
  },
  {
    name: "rejects another provider's tool before sending a request",
    script: [{ text: "never" }],
    async check({ adapter, asked }) {
      const about = { kind: "web_search", name: "search", description: "Searches.", config: {} };
      const foreign = new HostedTool({ ...about, provider: "nobody" });
      const work = adapter.evaluate(createPrompt([], [foreign]), { session: new Session() });
      const error = await expectRejection(work, PromptEvaluationError);
      expectSame([error.phase, asked().length], ["request", 0], "error");
    },
  },
  {
    name: "rejects a tool choice that names no tool before sending a request",
    script: [{ text: "never" }],
    async check({ adapter, asked }) {
      const toolChoice = { type: "built_in", name: "nought" } as const;
      const work = adapter.evaluate(createPrompt(), { session: new Session(), toolChoice });
      const error = await expectRejection(work, PromptEvaluationError);
      expectSame([error.phase, asked().length], ["request", 0], "error");
    },
  },
];
