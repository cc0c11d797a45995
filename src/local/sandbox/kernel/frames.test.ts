import { describe, expect, test } from "vitest";
import { encodeRequest, FrameBreach, FrameReader } from "./frames.ts";

function encodeFrame(kind: string, payload: string, size = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.write(kind, "latin1");
  head.writeUInt32BE(7, 1);
  head.writeUInt32BE(size, 5);
  return Buffer.concat([head, Buffer.from(payload)]);
}

function readFrames(...chunks: Buffer[]): string[] {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) =>
    [...reader.read(chunk)].map((f) => `${f.kind}${f.channel}:${f.payload}`),
  );
}

describe("Frames", () => {
  test("are found for any split of the bytes", () => {
    const bytes = Buffer.concat([
      encodeFrame("r", ""),
      encodeFrame("o", "out"),
      encodeFrame("d", "{}"),
    ]);
    const expected = ["r7:", "o7:out", "d7:{}"];
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
    const request = encodeRequest({ op: "python", text: "ž", maxOutputBytes: 300 });
    expect(request.readUInt32BE(0)).toBe(request.length - 4);
    expect(request.toString("utf8", 4)).toBe("p\0\0\0\0\0\0\u0001,ž");
    expect([...encodeRequest({ op: "interrupt" })]).toEqual([0, 0, 0, 5, 0x69, 0, 0, 0, 0]);
  });

  test("to the supervisor name the command, and its limits", () => {
    const limits = { maxOutputBytes: 2, cpuSeconds: 3 };
    const start = encodeRequest({ op: "shell", channel: 1, text: "ls", ...limits });
    expect(start.toString("latin1", 4)).toBe("s\0\0\0\u0001\0\0\0\u0002\0\0\0\u0003ls");
    const kill = encodeRequest({ op: "kill", channel: 1 });
    expect(kill.toString("latin1")).toBe("\0\0\0\u0005k\0\0\0\u0001");
  });

  test("to the supervisor limit the output size to four bytes", () => {
    const maxOutputBytes = Number.MAX_SAFE_INTEGER;
    const request = encodeRequest({ op: "python", text: "", maxOutputBytes });
    expect(request.readUInt32BE(9)).toBe(0xffff_fffe);
  });
});
