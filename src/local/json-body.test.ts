import { describe, expect, test } from "vitest";
import { jsonBody } from "./json-body.ts";

function request(body: string | ReadableStream): Request {
  const init = { method: "POST", body, duplex: "half" };
  return new Request("http://local", init);
}

describe("a body", () => {
  test("is read as JSON", async () => {
    expect(await jsonBody(request('{"a":"é"}'), 100)).toEqual({ a: "é" });
  });

  test("that is none, or not JSON, is refused", async () => {
    const refused = { status: 400, message: expect.stringContaining("could not parse the JSON") };
    await expect(jsonBody(new Request("http://local"), 100)).rejects.toMatchObject(refused);
    await expect(jsonBody(request("{"), 100)).rejects.toMatchObject(refused);
  });

  test("that is too long is not read to its end", async () => {
    let [given, isCancelled] = [0, false];
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10).fill(given++)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const failed = jsonBody(request(endless), 100);
    await expect(failed).rejects.toMatchObject({ status: 413, code: "request_too_large" });
    expect(given).toBeLessThan(20);
    expect(isCancelled).toBe(true);
  });
});
