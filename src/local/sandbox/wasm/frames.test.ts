import { describe, expect, test } from "vitest";
import { ChannelBreach, encodeFrame, FrameReader } from "./frames.ts";

const LIMITS = { headerBytes: 100, bodyBytes: 10 };
const read = (...chunks: readonly Buffer[]) => {
  const reader = new FrameReader(LIMITS);
  return chunks.flatMap((chunk) => [...reader.read(chunk)]);
};

describe("The channel of the wasm sandbox", () => {
  const message = {
    type: "x",
    list: [{ path: "a", bytes: Buffer.from("one") }, { bytes: new Uint8Array([1, 2]) }],
    empty: Buffer.alloc(0),
  };

  test("carries messages with byte arrays, however they are split", () => {
    const bytes = Buffer.concat([encodeFrame(message), encodeFrame({ next: true })]);
    for (const size of [1, 7, 40, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const [first, second] = read(...chunks);
      expect(JSON.stringify(first)).toBe(
        JSON.stringify({ ...message, list: [message.list[0], { bytes: Buffer.from([1, 2]) }] }),
      );
      expect(second).toEqual({ next: true });
    }
  });

  test("rejects a message that is too large at its first bytes, before it is stored", () => {
    const announce = (header: number, body: number) => {
      const prefix = Buffer.alloc(8);
      prefix.writeUInt32BE(header, 0);
      prefix.writeUInt32BE(body, 4);
      return prefix;
    };
    for (const prefix of [announce(101, 0), announce(2, 11), announce(2 ** 32 - 1, 2 ** 32 - 1)])
      expect(() => read(prefix)).toThrow(ChannelBreach);
    expect(read(announce(100, 10))).toEqual([]);
  });

  test("rejects invalid JSON and missing byte arrays", () => {
    const frame = (text: string, body = 0) => {
      const bytes = Buffer.concat([Buffer.alloc(8), Buffer.from(text), Buffer.alloc(body)]);
      bytes.writeUInt32BE(text.length, 0);
      bytes.writeUInt32BE(body, 4);
      return bytes;
    };
    for (const text of ["", "{", '{"blob":3}', '{"blob":-1}', '{"blob":"x"}', '{"blob":1e99}'])
      expect(() => read(frame(text, 2))).toThrow(ChannelBreach);
    expect(read(frame('{"blob":2}', 2))).toEqual([Buffer.alloc(2)]);
  });
});
