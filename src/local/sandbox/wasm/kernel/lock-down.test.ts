import { expect, test } from "vitest";
import { disableFunctions, findHandleClasses, lockDown } from "./lock-down.ts";

test("disableFunctions() makes every function throw, including methods of classes", () => {
  class Socket {
    connect() {
      return "connected";
    }
  }
  const socket = new Socket();
  const net = { connect: () => "connected", Socket, version: 1 };
  disableFunctions(net, new Set());
  expect(() => net.connect()).toThrow("denied");
  expect(() => socket.connect()).toThrow("denied");
  expect(net.version).toBe(1);
});

test("disableFunctions() skips allowed names, and overwrites functions that can only be written to", () => {
  const target = { kept: () => 1 };
  Object.defineProperty(target, "sealed", { value: () => 2, writable: true });
  disableFunctions(target, new Set(["kept"]));
  disableFunctions(undefined, new Set());
  expect(target.kept()).toBe(1);
  expect(() => Reflect.get(target, "sealed")()).toThrow("denied");
});

test("lockDown() closes modules and the process, hooks every load and removes network globals", () => {
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

test("findHandleClasses() finds what is behind TCP, unix and UDP sockets", () => {
  const classes = findHandleClasses((name) => process.getBuiltinModule(name));
  const methods = classes.flatMap((found) => Object.getOwnPropertyNames(found));
  for (const name of ["connect", "bind", "listen", "open", "fchmod", "send", "close"])
    expect(methods).toContain(name);
});

test("findHandleClasses() finds none if there is no network", () => {
  expect(findHandleClasses(() => undefined)).toEqual([]);
  const refuse = () => {
    throw new Error("ERR_ACCESS_DENIED");
  };
  expect(findHandleClasses(() => ({ connect: refuse, createSocket: refuse }))).toEqual([]);
});
