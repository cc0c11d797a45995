import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../base/clock.ts";
import type { Frame } from "../kernel/frames.ts";
import type { Launched } from "./launcher.ts";
import { SupervisedChild } from "./supervised-child.ts";

function startChild() {
  const process = Object.assign(new EventEmitter(), { pid: undefined as number | undefined });
  const [requests, frames, complaints] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const calls: string[] = [];
  const launched = {
    ...{ process, requests, frames, complaints },
    kill: () => void calls.push("kill"),
    killForcibly: () => void calls.push("killForcibly"),
  };
  const child = new SupervisedChild(launched as unknown as Launched, systemClock);
  return { child, process, frames, calls };
}

function encodeFrame(kind: string, channel: number, payload: string): Buffer {
  const head = Buffer.alloc(9);
  head.write(kind, 0, "latin1");
  head.writeUInt32BE(channel, 1);
  head.writeUInt32BE(payload.length, 5);
  return Buffer.concat([head, Buffer.from(payload)]);
}

const REQUEST = { op: "interrupt" } as never;

describe("SupervisedChild", () => {
  test("tells a run that starts late about a violation and about the end", async () => {
    const { child, process, frames } = startChild();
    frames.write(encodeFrame("v", 0, JSON.stringify({ violation: "memory", idle: true })));
    await new Promise((resolve) => setImmediate(resolve));
    expect(child.exceededLimit).toBe("memory");
    expect(child.isUsable).toBe(false);
    const seen: (Frame | null)[] = [];
    child.start(REQUEST, 0, (frame) => void seen.push(frame));
    expect(seen).toHaveLength(1);
    process.emit("close");
    await child.exited;
    child.start(REQUEST, 1, (frame) => void seen.push(frame));
    expect(seen.at(-1)).toBe(null);
    frames.write(encodeFrame("o", 1, "late"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.at(-1)).toBe(null);
  });

  test("ends if its process could not be started, with the reason", async () => {
    const { child, process } = startChild();
    process.emit("error", new Error("spawn bwrap ENOENT"));
    await child.exited;
    expect(child.stderrText).toBe("spawn bwrap ENOENT");
  });

  test("waits for the end of a process that was started and then failed", async () => {
    const { child, process } = startChild();
    process.pid = 5;
    process.emit("error", new Error("kill EPERM"));
    expect(child.isUsable).toBe(true);
    process.emit("close");
    await child.exited;
    expect(child.isUsable).toBe(false);
  });
});
