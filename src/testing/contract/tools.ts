import { Session } from "../../session/session.ts";
import { ResourceRegistry, resource } from "../../tools/resources.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { recordingBus } from "../recording-bus.ts";
import { holds, same } from "./expect.ts";
import { notes, noteTool, promptWith, wordTool } from "./prompts.ts";
import type { ContractCase, ContractTurn } from "./subject.ts";

const note = (...words: readonly string[]): ContractTurn => ({
  toolCalls: words.map((word) => ({ name: "note", arguments: { word } })),
});
const done: ContractTurn = { text: "Done." };

/** Tool calls: order, rollback, mistakes, resources, nesting. */
export const toolCases: readonly ContractCase[] = [
  {
    name: "calls of one turn run in order and their results reach the model in order",
    script: [note("one", "two"), done],
    async check({ adapter, asked }) {
      const session = new Session().register(notes);
      await adapter.evaluate(promptWith([noteTool]), { session });
      same(session.get(notes), ["one", "two"], "what the handlers noted");
      const [, second = ""] = asked();
      holds(second, "noted one", "the second request");
      holds(
        second.slice(second.indexOf("noted one")),
        "noted two",
        "the rest of the second request",
      );
    },
  },
  {
    name: "a call that fails or throws is rolled back, told to the model, and published",
    script: [note("kept", "fail", "throw"), done],
    async check({ adapter, asked }) {
      const bus = recordingBus();
      const session = new Session({ bus }).register(notes);
      await adapter.evaluate(promptWith([noteTool]), { session });
      same(session.get(notes), ["kept"], "what is left");
      holds(asked()[1], "refused by the contract", "the second request");
      holds(asked()[1], "thrown by the contract", "the second request");
      const successes = bus.of("ToolInvoked").map(({ result }) => result.success);
      same(successes, [true, false, false], "ToolInvoked");
    },
  },
  {
    name: "a tool that is not there, and arguments that do not fit, are told to the model",
    script: [
      {
        toolCalls: [
          { name: "nought", arguments: {} },
          { name: "note", arguments: { word: 1 } },
        ],
      },
      done,
    ],
    async check({ adapter, asked }) {
      await adapter.evaluate(promptWith([noteTool]), { session: new Session() });
      holds(asked()[1], "There is no tool named", "the second request");
      holds(asked()[1], "do not fit", "the second request");
    },
  },
  {
    name: "handlers find resources; what was made for the evaluation is closed, the caller's is not",
    script: [{ toolCalls: [{ name: "use", arguments: { word: "x" } }] }, done],
    async check({ adapter }) {
      const closed: string[] = [];
      const [ours, callers] = [resource<Disposable>("ours"), resource<Disposable>("callers")];
      const use = wordTool("use", (_params, { resources }) =>
        ToolResult.ok(Boolean(resources.get(ours) && resources.get(callers))),
      );
      const resources = new ResourceRegistry()
        .bind(ours, () => ({ [Symbol.dispose]: () => void closed.push("ours") }))
        .bind(callers, { [Symbol.dispose]: () => void closed.push("callers") });
      await adapter.evaluate(promptWith([use]), { session: new Session(), resources });
      same(closed, ["ours"], "what was closed");
    },
  },
  {
    name: "a handler may evaluate another prompt on its session",
    script: [
      { toolCalls: [{ name: "ask", arguments: { word: "x" } }] },
      { text: "Inner." },
      { text: "Outer." },
    ],
    async check({ adapter }) {
      const ask = wordTool("ask", async (_params, context) => {
        const { text } = await context.adapter.evaluate(promptWith(), { session: context.session });
        return ToolResult.ok(text);
      });
      const bus = recordingBus();
      const { text } = await adapter.evaluate(promptWith([ask]), { session: new Session({ bus }) });
      same(text, "Outer.", "the outer answer");
      same(bus.of("ToolInvoked")[0]?.result.value, "Inner.", "what the handler gave");
    },
  },
  {
    name: "two evaluations on one session take turns",
    script: [note("first"), done, { text: "Second." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus }).register(notes);
      const [first, second] = await Promise.all([
        adapter.evaluate(promptWith([noteTool]), { session }),
        adapter.evaluate(promptWith(), { session }),
      ]);
      same([first?.text, second?.text], ["Done.", "Second."], "answers");
      const order = bus.types().filter((type) => /^Prompt/.test(type));
      const one = ["PromptRendered", "PromptExecuted"];
      same(order, [...one, ...one], "events");
    },
  },
];
