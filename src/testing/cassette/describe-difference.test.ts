import { describe, expect, test } from "vitest";
import { echo, post, record } from "../../../tests/support/cassette/cassette-fixture.ts";
import { cassette } from "./cassette.ts";

describe("a replayed request that differs", () => {
  async function difference(recorded: unknown, sent: unknown): Promise<string> {
    const path = await record(echo, (fetch) => fetch("http://h/v1/responses", post(recorded)));
    const tape = cassette(path);
    const error: unknown = await tape
      .fetch("http://h/v1/responses", post(sent))
      .catch((thrown: unknown) => thrown);
    await expect(tape.close()).rejects.toBe(error);
    return error instanceof Error ? error.message.replaceAll(path, "run.jsonl") : "";
  }

  test("shows the first different text and the other places", async () => {
    expect(
      await difference(
        { input: [{ content: "Plan the baking." }], model: "a", old: 1 },
        { input: [{ content: "Plan the roasting." }], model: "b", extra: [1] },
      ),
    ).toBe(
      'Request 1 (POST /v1/responses) differs from exchange 1 of run.jsonl at input[0].content:\n\n  - Plan the baking.\n  + Plan the roasting.\n\nAlso different: model, old, extra.\nIf the change is intended, record the run again with mode: "record".',
    );
  });

  test("shows lines as a unified diff, and values as JSON", async () => {
    const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`);
    const text = await difference(
      { a: lines.join("\n") },
      { a: lines.with(4, "other").join("\n") },
    );
    expect(text).toContain(
      "  @@ -2,7 +2,7 @@\n   line 1\n   line 2\n   line 3\n  -line 4\n  +other\n   line 5\n",
    );
    expect(await difference({ "a b": [1] }, { "a b": { c: 2 } })).toContain(
      'at ["a b"]:\n\n  - [1]\n  + {"c":2}\n',
    );
    expect(await difference([], [1])).toContain("at [0]:\n\n  - (nothing)\n  + 1\n");
    expect(await difference("a", { b: 1 })).toContain('at the request:\n\n  - "a"\n  + {"b":1}\n');
  });

  test("shortens long texts around the difference, and escapes control characters", async () => {
    const long = "x".repeat(500);
    const text = await difference(
      { a: `${long}\u001b[31mold${long}` },
      { a: `${long}\u001b[31mnew${long}` },
    );
    expect(text).toContain(`- …${"x".repeat(35)}\\u{1b}[31mold`);
    expect(text).not.toContain("\u001b");
    expect(text.length).toBeLessThan(900);
    const many = Array.from({ length: 100 }, (_, index) => `${index}`).join("\n");
    expect(await difference({ a: many }, { a: many.replaceAll(/\d+/g, "n") })).toContain("… and ");
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, 1]));
    expect(await difference(fields, {})).toContain("Also different: f1, f10, f11, f12, f13, ….");
  });

  test("is compared with the recorded request that is most like it", async () => {
    const path = await record(echo, async (fetch) => {
      await fetch("http://h/a", post({ a: 1, b: 1, c: 1 }));
      await fetch("http://h/a", post({ a: 2, b: 2, c: 2 }));
      await fetch("http://h/a", post({ a: 2, b: 1, c: 9 }));
    });
    await using tape = cassette(path);
    await expect(tape.fetch("http://h/a", post({ a: 2, b: 2, c: 3 }))).rejects.toThrow(
      "exchange 2 of",
    );
    await expect(tape.fetch("http://h/a", post({ a: 1, b: 1, c: 1 }))).rejects.toThrow(
      "exchange 2 of",
    );
  });

  test("is reported if it is sent more often, was never recorded, or was not sent", async () => {
    const path = await record(echo, async (fetch) => {
      await fetch("http://h/a", post(1));
      for (let index = 0; index < 11; index++) await fetch(`http://h/b/${index}`, post(2));
      await fetch("http://h/v1/containers/c_1"); // depends on how long the run takes
    });
    const send = async (...bodies: readonly [string, number][]) => {
      const tape = cassette(path);
      for (const [name, body] of bodies) await tape.fetch(`http://h/${name}`, post(body));
      await tape.close();
    };
    await expect(send(["a", 1], ["a", 1])).rejects.toThrow(
      /Request 2 \(POST \/a\) was recorded in \S+ as exchange 1 and has been replayed already/,
    );
    await expect(send(["c", 1])).rejects.toThrow(
      /^Request 1 \(POST \/c\) is not in \S+\. The next recorded request is POST \/a\./,
    );
    await expect(send(["a", 1])).rejects.toThrow(
      /^11 of 13 recorded requests of \S+ were not sent:\n {2}2\. POST \/b\/0\n[\s\S]*\n {2}… and 1 more\n/,
    );
    const all = Array.from({ length: 11 }, (_, index) => [`b/${index}`, 2] as [string, number]);
    await send(["a", 1], ...all);
    const tape = cassette(path);
    for (const [name, body] of [["a", 1] as const, ...all])
      await tape.fetch(`http://h/${name}`, post(body));
    await tape.fetch("http://h/v1/containers/c_1");
    await expect(tape.fetch("http://h/d")).rejects.toThrow(
      "All 13 recorded requests have been sent.",
    );
    await expect(tape.close()).rejects.toThrow("All 13 recorded");
  });

  test("is not repeated by await using, which would hide the caller's error", async () => {
    const path = await record(echo, (fetch) => fetch("http://h/a"));
    const run = async () => {
      await using tape = cassette(path);
      await tape.fetch("http://h/b");
    };
    await expect(run()).rejects.toMatchObject({ name: "CassetteError" });
    const unsent = async () => {
      await using _ = cassette(path);
    };
    await expect(unsent()).rejects.toThrow("1 of 1 recorded requests");
  });

  test("cannot be sent after the cassette was closed", async () => {
    const path = await record(echo, async () => {});
    for (const mode of ["replay", "record"] as const) {
      const tape = cassette(path, { mode, fetch: echo });
      await tape.close();
      await tape.close();
      await expect(tape.fetch("http://h/a")).rejects.toThrow(
        "is closed. Send all requests before you close it.",
      );
    }
  });
});
