import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { KEEP_ALIVE_COMMENT, PacedBody } from "./paced-body.ts";

function createBody() {
  const request = new AbortController();
  const body = new PacedBody(request.signal);
  return { body, request, reader: body.stream.getReader() };
}

const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

describe("PacedBody", () => {
  test("ignores texts, and ends once more without an error, after its end", async () => {
    const { body, reader } = createBody();
    body.writeNow("a");
    body.close();
    body.writeNow("b");
    body.close();
    body.abort(new Error("late"));
    expect(decode((await reader.read()).value)).toBe("a");
    expect(await reader.read()).toMatchObject({ done: true });
  });

  test("breaks off with an error, once everything was read if asked", async () => {
    const { body, reader } = createBody();
    body.writeNow("a");
    body.abortWhenRead(new Error("gone"));
    expect(decode((await reader.read()).value)).toBe("a");
    await expect(reader.read()).rejects.toThrow("gone");
  });

  test("writes a sign of life after 15 seconds of silence, and only then", async () => {
    const clock = fakeClock();
    const { body, reader } = createBody();
    body.keepAlive(clock, () => KEEP_ALIVE_COMMENT);
    await clock.advance(10_000);
    body.writeNow("a");
    await clock.advance(10_000);
    expect(decode((await reader.read()).value)).toBe("a");
    await clock.advance(5_000);
    expect(decode((await reader.read()).value)).toBe(KEEP_ALIVE_COMMENT);
    body.close();
    await clock.advance(0);
    expect(clock.sleeping).toBe(0);
  });

  test("writes no sign of life to a client that does not read", async () => {
    const clock = fakeClock();
    const { body, reader } = createBody();
    body.keepAlive(clock, () => KEEP_ALIVE_COMMENT);
    for (let count = 0; count < 8; count++) body.writeNow(String(count));
    await clock.advance(60_000);
    for (let count = 0; count < 8; count++) {
      expect(decode((await reader.read()).value)).toBe(String(count));
    }
    body.close();
    expect(await reader.read()).toMatchObject({ done: true });
  });

  test("makes its writer wait while the client does not read, and fail when it disconnects", async () => {
    const { body, reader } = createBody();
    const long = "x".repeat(8 * 1024);
    let isWritten = false;
    const writing = body
      .write(Array(9).fill(long), (text) => text)
      .then(() => {
        isWritten = true;
      });
    await new Promise((resolve) => setTimeout(resolve));
    expect(isWritten).toBe(false);
    await reader.read();
    await reader.read();
    await writing;
    const stuck = body.write(Array(9).fill(long), (text) => text);
    await reader.cancel();
    await expect(stuck).rejects.toThrow("The client disconnected.");
    body.writeNow("late");
  });
});
