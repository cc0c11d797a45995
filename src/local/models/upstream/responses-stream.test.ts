import { describe, expect, test } from "vitest";
import type { AnswerPart } from "../local-model.ts";
import { AnswerReporter } from "./answer-reporter.ts";
import { readAnswerStream } from "./read-answer-stream.ts";
import { createResponsesStream } from "./responses-stream.ts";

/** Reads a body and returns what was reported, the whole response and the problem, if any. */
async function read(...chunks: readonly string[]) {
  const parts: AnswerPart[] = [];
  const reporter = new AnswerReporter(async (part) => void parts.push(part));
  const stream = createResponsesStream(reporter);
  const bytes = async function* () {
    for (const chunk of chunks) yield new TextEncoder().encode(chunk);
  };
  const problem = await readAnswerStream(bytes(), (data) => stream.add(data));
  return { parts, body: stream.body, problem };
}

const toLine = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

describe("the stream of an upstream response", () => {
  test("reports text after the thought that led to it, and has the whole response at its end", async () => {
    const summary = [{ type: "summary_text", text: "Hm." }];
    const { parts, body } = await read(
      ": a comment\n\n",
      toLine({ type: "response.output_item.done", item: { type: "reasoning", summary } }),
      toLine({ type: "response.output_text.delta", delta: "" }),
      toLine({ type: "response.output_text.delta", delta: "One." }),
      toLine({ type: "response.unknown" }),
      toLine({ type: "response.completed", response: { id: "resp_1" } }),
      "data: [DONE]\n\ndata:\n\n",
    );
    expect(parts).toEqual([{ think: "Hm." }, { say: "One." }]);
    expect(body).toEqual({ id: "resp_1" });
  });

  test.each([
    ["nested", { type: "error", error: { message: "Full." } }, { message: "Full." }],
    ["flat", { type: "error", message: "Full." }, { type: "error", message: "Full." }],
  ])("keeps a %s error event next to the response that failed", async (_, event, error) => {
    const failed = { type: "response.failed", response: { status: "failed" } };
    const { body } = await read(toLine(event), toLine(failed));
    expect(body).toEqual({ error, status: "failed" });
  });

  test("ends with a problem at an event that is not a JSON object, in any line", async () => {
    for (const line of ["data: [1]\n\n", "data: {", 'data: {"a":1}\ndata: nope\n']) {
      expect((await read(line)).problem).toMatch(/^an event that is not JSON: /);
    }
  });
});
