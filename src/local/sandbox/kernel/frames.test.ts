import { describe, expect, test } from "vitest";
import { encodeRequest, FrameBreach, FrameReader } from "./frames.ts";

function encodeFrame(kind: string, payload: string, size = payload.length): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, "latin1");
  head.writeUInt32BE(size, 1);
  return Buffer.concat([head, Buffer.from(payload)]);
}

function readFrames(...chunks: Buffer[]): string[] {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) => [...reader.read(chunk)].map((f) => `${f.kind}:${f.payload}`));
}

describe("Frames", () => {
  test("are found for any split of the bytes", () => {
    const bytes = Buffer.concat([
      encodeFrame("r", ""),
      encodeFrame("o", "out"),
      encodeFrame("d", "{}"),
    ]);
    const expected = ["r:", "o:out", "d:{}"];
    expect(readFrames(bytes)).toEqual(expected);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(readFrames(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(expected);
    }
    expect(readFrames(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  test("with an unknown kind or an excessive size are rejected before their bytes arrive", () => {
    expect(() => readFrames(encodeFrame("z", ""))).toThrow(FrameBreach);
    expect(() => readFrames(encodeFrame("r", "", 1))).toThrow(FrameBreach);
    expect(() => readFrames(encodeFrame("o", "", 65_537))).toThrow(
      "The supervisor never sends a frame of 65537 bytes.",
    );
    expect(() => readFrames(encodeFrame("d", "", 0xffff_ffff))).toThrow(FrameBreach);
  });

  test("to the supervisor state their length in bytes, not characters", () => {
    const request = encodeRequest({ op: "run", text: "ž", maxOutputBytes: 300 });
    expect(request.readUInt32BE(0)).toBe(request.length - 4);
    expect(request.toString("utf8", 4)).toBe("r\0\0\u0001,ž");
    expect([...encodeRequest({ op: "interrupt" })]).toEqual([0, 0, 0, 1, 0x69]);
  });

  test("to the supervisor limit the output size to four bytes", () => {
    const maxOutputBytes = Number.MAX_SAFE_INTEGER;
    const request = encodeRequest({ op: "run", text: "", maxOutputBytes });
    expect(request.readUInt32BE(5)).toBe(0xffff_fffe);
  });
});
