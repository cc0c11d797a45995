import { describe, expect, onTestFinished, test } from "vitest";
import { ApiProblem } from "../api-problem.ts";
import { listen } from "./listen.ts";
import { readJsonBody } from "./read-json-body.ts";

const post = { method: "POST", duplex: "half" };

function createRequest(body: string | ReadableStream): Request {
  return new Request("http://local", { ...post, body });
}

describe("readJsonBody()", () => {
  test("parses JSON", async () => {
    expect(await readJsonBody(createRequest('{"a":"é"}'), 100)).toEqual({ a: "é" });
  });

  test("rejects a missing or invalid body", async () => {
    const refused = { status: 400, message: expect.stringContaining("could not parse the JSON") };
    await expect(readJsonBody(new Request("http://local"), 100)).rejects.toMatchObject(refused);
    await expect(readJsonBody(createRequest("{"), 100)).rejects.toMatchObject(refused);
  });

  test("rejects a body that is nested too deeply", async () => {
    const nest = (depth: number) => createRequest("[".repeat(depth) + "]".repeat(depth));
    expect(await readJsonBody(nest(1000), 10_000)).toBeInstanceOf(Array);
    await expect(readJsonBody(nest(2000), 10_000)).rejects.toMatchObject({
      status: 400,
      message:
        "We could not parse the JSON body of your request: It is nested more than 1000 levels deep.",
    });
  });

  test("stops reading a body that is too long", async () => {
    let [given, isCancelled] = [0, false];
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10).fill(given++)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const failed = readJsonBody(createRequest(endless), 100);
    await expect(failed).rejects.toMatchObject({ status: 413, code: "request_too_large" });
    expect(given).toBeLessThan(20);
    expect(isCancelled).toBe(true);
  });

  test("reads a socket request with or without a content-length", async () => {
    const read = async (given: Request) => {
      const body = await readJsonBody(given, 100).catch((problem: unknown) => problem);
      return Response.json(body instanceof ApiProblem ? body.status : body);
    };
    const { url, close } = await listen(read, {});
    onTestFinished(close);
    const answers = async (text: string) => {
      const bodies = [text, new Blob([text]).stream()];
      const asked = bodies.map((body) => fetch(url, { ...post, body }));
      return await Promise.all(asked.map(async (answer) => (await answer).json()));
    };
    expect(await answers('{"a":"é"}')).toEqual([{ a: "é" }, { a: "é" }]);
    expect(await answers("{")).toEqual([400, 400]);
    expect(await answers(`"${"x".repeat(1000)}"`)).toEqual([413, 413]);
  });
});
