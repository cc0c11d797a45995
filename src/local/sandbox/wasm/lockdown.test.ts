import { expect, test } from "vitest";
import { close, lockDown } from "./lockdown.ts";

test("what is closed refuses every call, its classes' methods too", () => {
  class Socket {
    connect() {
      return "connected";
    }
  }
  const socket = new Socket();
  const net = { connect: () => "connected", Socket, version: 1 };
  close(net, new Set());
  expect(() => net.connect()).toThrow("denied");
  expect(() => socket.connect()).toThrow("denied");
  expect(net.version).toBe(1);
});

test("what is kept is not closed, and what cannot be replaced but written to is", () => {
  const target = { kept: () => 1 };
  Object.defineProperty(target, "sealed", { value: () => 2, writable: true });
  close(target, new Set(["kept"]));
  close(undefined, new Set());
  expect(target.kept()).toBe(1);
  expect(() => Reflect.get(target, "sealed")()).toThrow("denied");
});

test("locking down closes modules and the process, hooks every load and removes the network's globals", () => {
  const fs = { readFileSync: () => "secret" };
  const process = { kill: () => true, nextTick: () => "kept" };
  const globals = { fetch: () => "page", process };
  const refused: unknown[] = [];
  lockDown({
    globals,
    process,
    module: (name) => (name === "fs" ? fs : undefined),
    hook: ({ resolve, load }) => refused.push(resolve, load),
  });
  expect(() => fs.readFileSync()).toThrow("denied");
  expect(() => process.kill()).toThrow("denied");
  expect(process.nextTick()).toBe("kept");
  expect(Object.keys(globals)).toEqual(["process"]);
  expect(globals.process).not.toBe(process);
  expect(refused).toEqual([expect.any(Function), expect.any(Function)]);
});
