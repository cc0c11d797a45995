import { describe, expect, test } from "vitest";
import { limitResponse } from "./limit-response.ts";

const stream = (...chunks: readonly string[]) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
const events = { headers: { "content-type": "text/event-stream; charset=utf-8" } };

async function read(response: Response, maxBytes = 10) {
  const problems: string[] = [];
  const bounded = limitResponse(response, maxBytes, (problem) => problems.push(problem));
  const text = await bounded.text().catch((error: Error) => error.message);
  return { text, problems, bounded };
}

describe("limitResponse()", () => {
  test("passes a body within the limit, with its status and headers", async () => {
    const { text, problems, bounded } = await read(
      new Response("1234567890", { status: 404, headers: { a: "b" } }),
    );
    expect([text, problems]).toEqual(["1234567890", []]);
    expect([bounded.status, bounded.headers.get("a")]).toEqual([404, "b"]);
  });

  test("fails a longer body", async () => {
    const { text, problems } = await read(new Response(stream("123456", "789012")));
    expect(text).toBe("It sent a response of more than 10 bytes.");
    expect(problems).toEqual([text]);
  });

  test("counts a stream of events per event, also across chunks and with CRLF", async () => {
    for (const body of [
      stream("data: 1\n\n", "data: 2\n\n"),
      stream("data: 1\n", "\ndata: 2\n", "\n"),
      stream("data: 1\r\n\r", "\ndata: 2\r\n\r\n"),
    ]) {
      const { problems } = await read(new Response(body, events), 13);
      expect(problems).toEqual([]);
    }
    const { problems } = await read(new Response(stream("data: 1\n", "data: 2\n", "\n"), events));
    expect(problems).toEqual(["It sent an event of more than 10 bytes."]);
  });

  test("returns a response without a body unchanged", () => {
    const response = new Response(null, { status: 204 });
    expect(limitResponse(response, 1, () => {})).toBe(response);
  });
});
