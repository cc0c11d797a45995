/** The functions of CPython's C API that are called here. All arguments and results are numbers or addresses. */
export interface PythonExports {
  malloc(size: number): number;
  free(address: number): void;
  PyUnicode_FromStringAndSize(address: number, size: number): number;
  PyObject_CallOneArg(callable: number, argument: number): number;
  PyBytes_AsString(object: number): number;
  PyBytes_Size(object: number): number;
  PyErr_Clear(): void;
  Py_IncRef(object: number): void;
  Py_DecRef(object: number): void;
}

/** A Python function from text to bytes, called with addresses only, so that no object of JavaScript is involved. */
export class PythonFunction {
  readonly #python: PythonExports;
  readonly #memory: () => Uint8Array;
  readonly #callable: number;

  /** `memory` returns WebAssembly's memory, which is another array after it has grown. */
  constructor(python: PythonExports, memory: () => Uint8Array, callable: number) {
    this.#python = python;
    this.#memory = memory;
    this.#callable = callable;
    python.Py_IncRef(callable);
  }

  /** Returns the bytes, or `null` if the function raised an exception or did not return bytes. */
  call(text: string): Uint8Array | null {
    const python = this.#python;
    const argument = this.#createText(text);
    const result = python.PyObject_CallOneArg(this.#callable, argument);
    python.Py_DecRef(argument);
    const address = result === 0 ? 0 : python.PyBytes_AsString(result);
    if (address === 0) {
      python.PyErr_Clear();
      return null;
    }
    const bytes = this.#memory().slice(address, address + python.PyBytes_Size(result));
    python.Py_DecRef(result);
    return bytes;
  }

  #createText(text: string): number {
    const bytes = new TextEncoder().encode(text);
    const address = this.#python.malloc(bytes.length + 1);
    if (address === 0) throw new Error("The interpreter has no memory left.");
    this.#memory().set(bytes, address);
    const created = this.#python.PyUnicode_FromStringAndSize(address, bytes.length);
    this.#python.free(address);
    if (created === 0) throw new Error("The interpreter has no memory left.");
    return created;
  }
}
