import { Session } from "../../session/session.ts";
import { ResourceRegistry, resource } from "../../tools/resources.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectContains, expectSame } from "./expect.ts";
import { createPrompt, notes, noteTool, wordTool } from "./prompts.ts";
import type { ContractCase, ContractTurn } from "./subject.ts";

const callNote = (...words: readonly string[]): ContractTurn => ({
  toolCalls: words.map((word) => ({ name: "note", arguments: { word } })),
});
const LONGEST_NAME = `Read_every-note${"Z".repeat(49)}`;
const done: ContractTurn = { text: "Done." };

/** Cases about tool calls: order, rollback, mistakes, resources and nesting. */
export const toolCases: readonly ContractCase[] = [
  {
    name: "runs the calls of a turn in order and returns their results to the model in order",
    script: [callNote("one", "two"), done],
    async check({ adapter, asked }) {
      const session = new Session().register(notes);
      await adapter.evaluate(createPrompt([noteTool]), { session });
      expectSame(session.get(notes), ["one", "two"], "the notes of the handlers");
      const [, second = ""] = asked();
      expectContains(second, "noted one", "the second request");
      expectContains(
        second.slice(second.indexOf("noted one")),
        "noted two",
        "the rest of the second request",
      );
    },
  },
  {
    name: "rolls back a call that fails or throws, reports it to the model, and publishes it",
    script: [callNote("kept", "fail", "throw"), done],
    async check({ adapter, asked }) {
      const bus = recordingBus();
      const session = new Session({ bus }).register(notes);
      await adapter.evaluate(createPrompt([noteTool]), { session });
      expectSame(session.get(notes), ["kept"], "the notes after the rollback");
      expectContains(asked()[1], "refused by the contract", "the second request");
      expectContains(asked()[1], "thrown by the contract", "the second request");
      const successes = bus.of("ToolInvoked").map(({ result }) => result.success);
      expectSame(successes, [true, false, false], "ToolInvoked");
    },
  },
  {
    name: "reports unknown tools and invalid arguments to the model",
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
      await adapter.evaluate(createPrompt([noteTool]), { session: new Session() });
      expectContains(asked()[1], "There is no tool named", "the second request");
      expectContains(asked()[1], "do not fit", "the second request");
    },
  },
  {
    name: "offers tools with names of 64 letters, names that differ only in case, and long descriptions",
    script: [
      {
        toolCalls: [LONGEST_NAME, "note", "Note"].map((name) => ({
          name,
          arguments: { word: name },
        })),
      },
      done,
    ],
    async check({ adapter, asked }) {
      const bus = recordingBus();
      const description = `Ünïcode 🌱\n\n${"- one of many lines\n".repeat(200)}`;
      const tools = [LONGEST_NAME, "note", "Note"].map((name) =>
        wordTool(name, ({ word }) => ToolResult.ok(`heard ${word}`)).withDescription(description),
      );
      await adapter.evaluate(createPrompt(tools), { session: new Session({ bus }) });
      for (const name of [LONGEST_NAME, "note", "Note"]) {
        expectContains(asked()[1], `heard ${name}`, "the second request");
      }
      const invoked = bus.of("ToolInvoked").map(({ name }) => name);
      expectSame(invoked, [LONGEST_NAME, "note", "Note"], "the called tools");
    },
  },
  {
    name: "passes resources to handlers, closes the ones it created, and leaves the caller's open",
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
      await adapter.evaluate(createPrompt([use]), { session: new Session(), resources });
      expectSame(closed, ["ours"], "the closed resources");
    },
  },
  {
    name: "lets a handler evaluate another prompt on its session",
    script: [
      { toolCalls: [{ name: "ask", arguments: { word: "x" } }] },
      { text: "Inner." },
      { text: "Outer." },
    ],
    async check({ adapter }) {
      const ask = wordTool("ask", async (_params, context) => {
        const { text } = await context.adapter.evaluate(createPrompt(), {
          session: context.session,
        });
        return ToolResult.ok(text);
      });
      const bus = recordingBus();
      const { text } = await adapter.evaluate(createPrompt([ask]), {
        session: new Session({ bus }),
      });
      expectSame(text, "Outer.", "the outer answer");
      expectSame(bus.of("ToolInvoked")[0]?.result.value, "Inner.", "the handler's value");
    },
  },
  {
    name: "runs concurrent evaluations on one session one after the other",
    script: [callNote("first"), done, { text: "Second." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus }).register(notes);
      const [first, second] = await Promise.all([
        adapter.evaluate(createPrompt([noteTool]), { session }),
        adapter.evaluate(createPrompt(), { session }),
      ]);
      expectSame([first?.text, second?.text], ["Done.", "Second."], "answers");
      const order = bus.types().filter((type) => /^Prompt/.test(type));
      const one = ["PromptRendered", "PromptExecuted"];
      expectSame(order, [...one, ...one], "events");
    },
  },
];
