import { expect, test } from "vitest";
import { guardImports } from "./guard-imports.ts";
import { interceptInstance } from "./intercept-instance.ts";

function deny(name: string): never {
  throw new Error(`denied ${name}`);
}

test("guardImports() leaves only functions without JavaScript objects, once it is locked", () => {
  const call = Object.assign(() => "called", { sig: "ei" });
  const imports = {
    fd_write: () => 1,
    __syscall_socket: () => 3,
    JsvFunction_CallBound: call,
    memory: 5,
  };
  const { lock } = guardImports(imports, deny);
  expect([imports.JsvFunction_CallBound(), imports.__syscall_socket()]).toEqual(["called", 3]);
  expect(Reflect.get(imports.JsvFunction_CallBound, "sig")).toBe("ei");
  lock();
  expect(imports.fd_write()).toBe(1);
  expect(imports.__syscall_socket()).toBe(-52);
  expect(() => imports.JsvFunction_CallBound()).toThrow("denied JsvFunction_CallBound");
  expect(imports.memory).toBe(5);
});

test("interceptInstance() fails if Pyodide did not instantiate a module", async () => {
  const wasm = { instantiate: WebAssembly.instantiate };
  const finish = interceptInstance(wasm, deny);
  await wasm.instantiate(Buffer.from("0061736d01000000", "hex"));
  expect(finish).toThrow("did not instantiate");
  expect(wasm.instantiate).toBe(WebAssembly.instantiate);
});
