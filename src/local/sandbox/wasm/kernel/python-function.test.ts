import { expect, test } from "vitest";
import type { PyodideModule } from "./pyodide.ts";
import { type PythonExports, PythonFunction } from "./python-function.ts";
import { startInterpreter } from "./start-interpreter.ts";

const memory = new Uint8Array(64);
const python: PythonExports = {
  malloc: () => 8,
  free: () => {},
  PyUnicode_FromStringAndSize: () => 1,
  PyObject_CallOneArg: () => 2,
  PyBytes_AsString: () => 8,
  PyBytes_Size: () => 2,
  PyErr_Clear: () => {},
  Py_IncRef: () => {},
  Py_DecRef: () => {},
};
const call = (own: Partial<PythonExports>) =>
  new PythonFunction({ ...python, ...own }, () => memory, 5).call("hi");

test("PythonFunction passes text and returns bytes by their addresses", () => {
  expect(call({})).toEqual(new TextEncoder().encode("hi"));
});

test("PythonFunction returns null for an exception and for a result that is not bytes", () => {
  expect(call({ PyObject_CallOneArg: () => 0 })).toBeNull();
  expect(call({ PyBytes_AsString: () => 0 })).toBeNull();
});

test("PythonFunction throws if the text does not fit into the memory", () => {
  expect(() => call({ malloc: () => 0 })).toThrow("no memory left");
  expect(() => call({ PyUnicode_FromStringAndSize: () => 0 })).toThrow("no memory left");
});

test("startInterpreter() rejects an interpreter that does not answer", async () => {
  const doNothing = () => {};
  const real = WebAssembly.instantiate;
  Reflect.set(WebAssembly, "instantiate", async () => ({
    instance: { exports: { ...python, PyObject_CallOneArg: () => 0 } },
  }));
  const module: PyodideModule = {
    async loadPyodide({ stdin }) {
      expect(stdin()).toBeNull();
      await WebAssembly.instantiate(Buffer.alloc(0), { env: {} });
      return {
        FS: {
          filesystems: {},
          ErrnoError: class extends Error {
            constructor(code: number) {
              super(String(code));
            }
          },
          mkdirTree: doNothing,
          readdir: () => [],
          lstat: () => {
            throw new Error("there are no files");
          },
          isDir: () => false,
          isFile: () => false,
          readFile: () => new Uint8Array(),
          writeFile: doNothing,
          unlink: doNothing,
          rmdir: doNothing,
        },
        _module: { HEAPU8: memory },
        runPython: () => 1,
        setInterruptBuffer: doNothing,
        setStdout: ({ write }) => write(new Uint8Array()),
        setStderr: ({ write }) => write(new Uint8Array()),
      };
    },
  };
  const limits = { diskBytes: 1, maxFiles: 1 };
  const starting = startInterpreter(module, "/nowhere", limits, doNothing, (name) => {
    throw new Error(name);
  });
  await expect(starting).rejects.toThrow("did not answer");
  Reflect.set(WebAssembly, "instantiate", real);
});
