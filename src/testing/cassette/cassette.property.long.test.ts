import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createCassetteFolder,
  noNetwork,
} from "../../../tests/support/cassette/cassette-fixture.ts";
import { cassette } from "./cassette.ts";

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 });
const body = fc.oneof(
  fc.json().map((text) => ({ type: "application/json", body: text })),
  fc
    .uint8Array({ maxLength: 60 })
    .map((bytes) => ({ type: "application/octet-stream", body: bytes })),
  fc.string().map((text) => ({ type: "text/plain", body: text })),
  fc.tuple(fc.string(), fc.uint8Array({ maxLength: 60 })).map(([field, bytes]) => {
    const form = new FormData();
    form.append("field", field.toWellFormed());
    form.append("file", new File([new Uint8Array(bytes)], "a.bin"));
    return { type: null, body: form };
  }),
);
const status = fc.constantFrom(200, 201, 400, 404, 429, 500);

test("random requests and chunked responses are replayed byte for byte, in any order", async () => {
  const exchanges = fc.array(fc.record({ body, chunks, status }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(exchanges, fc.boolean(), async (all, isReversed) => {
      const path = join(createCassetteFolder(), "run.jsonl");
      const answer: typeof globalThis.fetch = async (input) => {
        const one = all[Number(new URL(String(input)).pathname.slice(1))];
        const stream = new ReadableStream({
          start(controller) {
            for (const chunk of one?.chunks ?? []) controller.enqueue(Uint8Array.from(chunk));
            controller.close();
          },
        });
        return new Response(stream, { status: one?.status ?? 200 });
      };
      const send = async (fetch: typeof globalThis.fetch, index: number) => {
        const { type, body: content } = all[index]?.body ?? { type: null, body: null };
        const response = await fetch(`http://h/${index}`, {
          method: "POST",
          body: content instanceof Uint8Array ? new Uint8Array(content) : content,
          headers: type === null ? {} : { "content-type": type },
        });
        const parts: string[] = [];
        for await (const part of response.body ?? []) parts.push(Buffer.from(part).toString("hex"));
        return { status: response.status, parts };
      };
      const tape = cassette(path, { mode: "record", fetch: answer });
      const first = await Promise.all(all.map((_, index) => send(tape.fetch, index)));
      await tape.close();
      const again = cassette(path, { fetch: noNetwork });
      const order = [...all.keys()];
      if (isReversed) order.reverse();
      const second = new Map<number, unknown>();
      for (const index of order) second.set(index, await send(again.fetch, index));
      await again.close();
      expect(all.map((_, index) => second.get(index))).toEqual(first);
    }),
    { numRuns: 150 },
  );
});
