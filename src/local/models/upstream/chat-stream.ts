import { isPlainObject } from "../../../base/freeze.ts";
import { readRecord, readString } from "../../../base/json.ts";
import type { AnswerReporter } from "./answer-reporter.ts";
import type { StreamData } from "./read-answer-stream.ts";
import type { AnswerStream } from "./upstream-wire.ts";

/** The call of a streamed completion, of which pieces arrive. */
interface GrowingCall {
  id: unknown;
  name: string;
  args: string;
}

/** Reads the chunks of a streamed chat completion, and joins them to a completion. */
export function createChatStream(reporter: AnswerReporter): AnswerStream {
  const texts = { content: "", reasoning_content: "", refusal: "" };
  const calls = new Map<unknown, GrowingCall>();
  let body: StreamData = {};
  let hasChoice = false;
  return {
    async add(data) {
      const { error, usage, choices } = data;
      if (error !== undefined && error !== null) body = { ...body, error };
      if (isPlainObject(usage)) body = { ...body, usage };
      const [choice]: readonly unknown[] = Array.isArray(choices) ? choices : [];
      if (!isPlainObject(choice)) return;
      hasChoice = true;
      const delta = readRecord(choice, "delta");
      texts.reasoning_content +=
        readString(delta, "reasoning_content") || readString(delta, "reasoning");
      texts.refusal += readString(delta, "refusal");
      for (const call of readCalls(delta)) addCall(calls, call);
      const content = readString(delta, "content");
      texts.content += content;
      if (content !== "") await reporter.addText(content, () => texts.reasoning_content);
    },
    get body() {
      const tool_calls = [...calls.values()].map(({ id, name, args }) => ({
        id,
        type: "function",
        function: { name, arguments: args },
      }));
      return hasChoice ? { ...body, choices: [{ message: { ...texts, tool_calls } }] } : body;
    },
  };
}

function readCalls({ tool_calls: calls }: StreamData): readonly StreamData[] {
  return Array.isArray(calls) ? calls.filter(isPlainObject) : [];
}

/** Adds a piece of a call. Servers that send whole calls may omit the index. */
function addCall(calls: Map<unknown, GrowingCall>, piece: StreamData): void {
  const { index = piece["id"] ?? calls.size, id } = piece;
  const called = readRecord(piece, "function");
  const call = calls.get(index) ?? { id, name: "", args: "" };
  call.name += readString(called, "name");
  const args = called["arguments"];
  call.args += isPlainObject(args) ? JSON.stringify(args) : readString(called, "arguments");
  calls.set(index, call);
}
