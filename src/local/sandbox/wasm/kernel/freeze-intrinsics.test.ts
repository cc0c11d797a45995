import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { freezeIntrinsics } from "./freeze-intrinsics.ts";

test("freezeIntrinsics() makes every prototype and function of a realm constant", () => {
  const context = createContext();
  const run = (code: string): unknown => runInContext(`"use strict"; ${code}`, context);
  const names =
    "Object, Array, Function, JSON, asynchronous: async () => {}, own: new Uint8Array(2)";
  const globals = Object(run(`this.all = ({ ${names}, iterator: [][Symbol.iterator]() })`));
  freezeIntrinsics(globals);
  for (const change of [
    "Object.defineProperty(Object.prototype, 'then', { get() { return 1 } })",
    "Array.prototype.push = 1",
    "Function.prototype.call = 1",
    "(async () => {}).constructor.prototype.x = 1",
    "[][Symbol.iterator]().__proto__.next = 1",
    "JSON.parse = 1",
    "all.Object = 1",
  ])
    expect(() => run(change)).toThrow(/read only|Cannot|not extensible/);
  expect(run("all.own[0] = 7; all.own[0] + [1, 2].map((x) => x * 2).length")).toBe(9);
});
