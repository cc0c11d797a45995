import { readRecord, readString } from "../../../base/json.ts";
import type { AnswerReporter } from "./answer-reporter.ts";
import type { StreamData } from "./read-answer-stream.ts";
import { readThought } from "./read-response.ts";
import type { AnswerStream } from "./upstream-wire.ts";

/** Reads the events of a streamed response. Its last event has the whole response. */
export function createResponsesStream(reporter: AnswerReporter): AnswerStream {
  const items: StreamData[] = [];
  let body: StreamData = {};
  return {
    async add(data) {
      const { type } = data;
      if (type === "response.output_text.delta")
        await reporter.addText(readString(data, "delta"), () => readThought(items));
      else if (type === "response.output_item.done") items.push(readRecord(data, "item"));
      else if (type === "error") body = { error: data["error"] ?? data };
      else if (ENDS.has(type)) body = { ...body, ...readRecord(data, "response") };
    },
    get body() {
      return body;
    },
  };
}

const ENDS: ReadonlySet<unknown> = new Set([
  ...["response.completed", "response.incomplete", "response.failed"],
]);
