import { describe, expect, test } from "vitest";
import { encodeRequest, FrameBreach, FrameReader } from "./frames.ts";

function frame(kind: string, payload: string, size = payload.length): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, "latin1");
  head.writeUInt32BE(size, 1);
  return Buffer.concat([head, Buffer.from(payload)]);
}

function read(...chunks: Buffer[]): string[] {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) => [...reader.read(chunk)].map((f) => `${f.kind}:${f.payload}`));
}

describe("frames", () => {
  test("are found however the bytes are cut", () => {
    const bytes = Buffer.concat([frame("r", ""), frame("o", "out"), frame("d", "{}")]);
    const expected = ["r:", "o:out", "d:{}"];
    expect(read(bytes)).toEqual(expected);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(expected);
    }
    expect(read(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  test("of an unknown kind or too large a size are refused before their bytes come", () => {
    expect(() => read(frame("z", ""))).toThrow(FrameBreach);
    expect(() => read(frame("r", "", 1))).toThrow(FrameBreach);
    expect(() => read(frame("o", "", 65_537))).toThrow(
      "a frame of 65537 bytes is none of the supervisor's",
    );
    expect(() => read(frame("d", "", 0xffff_ffff))).toThrow(FrameBreach);
  });

  test("to the supervisor carry their length in bytes, not letters", () => {
    const request = encodeRequest({ op: "run", text: "ž", maxOutputBytes: 300 });
    expect(request.readUInt32BE(0)).toBe(request.length - 4);
    expect(request.toString("utf8", 4)).toBe("r\0\0\u0001,ž");
    expect([...encodeRequest({ op: "interrupt" })]).toEqual([0, 0, 0, 1, 0x69]);
  });

  test("to the supervisor allow at most as much output as fits into four bytes", () => {
    const maxOutputBytes = Number.MAX_SAFE_INTEGER;
    const request = encodeRequest({ op: "run", text: "", maxOutputBytes });
    expect(request.readUInt32BE(5)).toBe(0xffff_fffe);
  });
});
