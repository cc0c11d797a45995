import type { EvaluationStream, StreamEvent } from "../../adapter/evaluation-stream.ts";
import type { EvaluateOptions, ProviderAdapter } from "../../adapter/provider-adapter.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { Session } from "../../session/session.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { recordingBus } from "../recording-bus.ts";
import { catchRejection, expectRejection, expectSame } from "./expect.ts";
import { createPrompt, createWordPrompt, noteTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const LONG = "Owls hunt at night, and they hear a mouse under the snow. 🦉 ".repeat(40).trim();
const callNote = {
  text: "First I note it.",
  toolCalls: [{ name: "note", callId: "call_note", arguments: { word: "a long word" } }],
};

/** Cases about `stream`: parts, their order, partial output, cancellation, readers and failures. */
export const streamingCases: readonly ContractCase[] = [
  {
    name: "streams text whose pieces are the text of the response",
    script: [{ text: LONG }],
    async check({ adapter }) {
      const stream = startStream(adapter, createPrompt());
      const text = (await readAll(stream.text())).join("");
      expectSame([text, (await stream.response).text], [LONG, LONG], "text");
    },
  },
  {
    name: "streams the text of every turn, between the events of that turn",
    script: [callNote, { text: "Done." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      const events = await readAll(startStream(adapter, createPrompt([noteTool]), { session }));
      expectSame(
        bus.of("TurnCompleted").map(({ turn }) => joinText(events, turn)),
        bus.of("TurnCompleted").map(({ text }) => text),
        "text of each turn",
      );
      expectSame(
        events.flatMap((event) => (event.type === "bus" ? [event.event.type] : [])),
        bus.types(),
        "bus events",
      );
      expectSame(findMisplaced(events), [], "parts outside of their turn");
    },
  },
  {
    name: "streams the arguments of tool calls",
    script: [callNote, { text: "Done." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      const events = await readAll(startStream(adapter, createPrompt([noteTool]), { session }));
      const parts = events.filter((event) => event.type === "toolCall");
      const [call] = bus.of("TurnCompleted").flatMap(({ toolCalls }) => toolCalls);
      expectSame(new Set(parts.map(({ callId }) => callId)).size, 1, "calls");
      expectSame([parts[0]?.callId, parts[0]?.name], [call?.callId, "note"], "the call");
      const text = parts.map(({ delta }) => delta).join("");
      expectSame(JSON.parse(text), { word: "a long word" }, "arguments");
    },
  },
  {
    name: "streams the status of hosted calls until they are completed",
    script: [{ hostedCalls: [{ name: "web_search" }], text: "Owls." }, { text: "Owls." }],
    async check({ adapter }) {
      const stream = startStream(adapter, createPrompt([], [webSearchTool()]));
      const events = await readAll(stream);
      const parts = events.filter((event) => event.type === "hostedCall");
      const [call] = (await stream.response).hostedCalls;
      const last = parts.at(-1);
      expectSame(
        [last?.callId, last?.kind, last?.status],
        [call?.callId, "web_search", "completed"],
        "the last status",
      );
    },
  },
  {
    name: "streams structured output as it grows, and last the validated output",
    script: [{ text: '{"word":"tawny owl"}' }],
    async check({ adapter }) {
      const stream = startStream(adapter, createWordPrompt());
      const values = await readAll(stream.partialOutput());
      expectSame(values.at(-1), { word: "tawny owl" }, "the last value");
      expectSame(values.at(-1), (await stream.response).output, "response.output");
      const words = values.map(({ word = "" }) => word);
      expectSame(
        words.filter((word) => !"tawny owl".startsWith(word)),
        [],
        "values that are no beginning of the output",
      );
    },
  },
  {
    name: "evaluates without a reader",
    script: [callNote, { text: "Done." }],
    async check({ adapter }) {
      const { text } = await startStream(adapter, createPrompt([noteTool])).response;
      expectSame(text, "Done.", "response.text");
    },
  },
  {
    name: "delivers the same events to every reader, also after the end",
    script: [callNote, { text: "Done." }],
    async check({ adapter }) {
      const stream = startStream(adapter, createPrompt([noteTool]));
      const [first, second] = await Promise.all([readAll(stream), readAll(stream)]);
      expectSame(first.length > 0, true, "there are events");
      expectSame(second, first, "events of the second reader");
      expectSame(await readAll(stream), first, "events of a reader after the end");
    },
  },
  {
    name: "cancels the evaluation with the reason of cancel()",
    script: [{ stall: true }],
    async check({ adapter }) {
      const reason = { any: "thing" };
      const stream = startStream(adapter, createPrompt());
      const reading = catchRejection(readAll(stream));
      await waitForTurn(stream);
      stream.cancel(reason);
      const errors = await Promise.all([catchRejection(stream.response), reading]);
      expectSame(
        errors.map((error) => error === reason),
        [true, true],
        "the response and readers reject with the reason",
      );
    },
  },
  {
    name: "cancels the evaluation when its last reader leaves",
    script: [{ stall: true }],
    async check({ adapter }) {
      const bus = recordingBus();
      const stream = startStream(adapter, createPrompt(), { session: new Session({ bus }) });
      await waitForTurn(stream);
      const error = await expectRejection(stream.response, Error);
      expectSame([error.name, bus.types().at(-1)], ["AbortError", "PromptFailed"], "the end");
    },
  },
  {
    name: "ends readers of a failed evaluation with its error, after its events",
    script: [callNote, { throttle: { kind: "quota_exhausted" } }],
    async check({ adapter }) {
      const stream = startStream(adapter, createPrompt([noteTool]));
      const events: StreamEvent[] = [];
      const reading = (async () => {
        for await (const event of stream) events.push(event);
      })();
      const error = await expectRejection(reading, ThrottleError);
      expectSame((await catchRejection(stream.response)) === error, true, "response rejects");
      const last = events.at(-1);
      expectSame(last?.type === "bus" && last.event.type, "PromptFailed", "the last event");
      expectSame(joinText(events, 1), callNote.text, "text of the first turn");
    },
  },
];

function startStream<Output>(
  adapter: ProviderAdapter,
  prompt: Prompt<Output>,
  options?: EvaluateOptions,
): EvaluationStream<Output> {
  if (adapter.stream) return adapter.stream(prompt, options);
  throw new Error("The adapter has no stream(). Add it with streamEvaluation().");
}

async function readAll<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** Reads until the first request is sent, and leaves. */
async function waitForTurn(stream: EvaluationStream): Promise<void> {
  for await (const event of stream) {
    if (event.type === "bus" && event.event.type === "TurnStarted") return;
  }
}

function joinText(events: readonly StreamEvent[], turn: number): string {
  const texts = events.filter((event) => event.type === "text" && event.turn === turn);
  return texts.map((event) => ("delta" in event ? event.delta : "")).join("");
}

/** Lists the parts that are not between `TurnStarted` and `TurnCompleted` of their turn. */
function findMisplaced(events: readonly StreamEvent[]): readonly StreamEvent[] {
  let current = 0;
  return events.filter((event) => {
    if (event.type !== "bus") return event.turn !== current;
    if (event.event.type === "TurnStarted") current = event.event.turn;
    if (event.event.type === "TurnCompleted") current = 0;
    return false;
  });
}
