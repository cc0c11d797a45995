import { SYSTEM_CALLS } from "../../../src/local/sandbox/seccomp/system-calls.ts";

/** A system call made from inside a sandbox, and the error that it must end in. */
export interface SystemCallCase {
  readonly name: string;
  /** Numbers, or Python expressions such as `"buffer"`, the address of 4 KiB of zeros. */
  readonly args?: readonly (number | string)[];
  readonly errno: number;
}

/** Builds a Python program that makes each call and prints the names of those that did not end in their error. */
export function buildCallsProgram(cases: readonly SystemCallCase[]): string {
  const numbers = SYSTEM_CALLS.get(process.arch);
  const lines = cases.flatMap(({ name, args = [], errno }) => {
    const number = numbers?.get(name);
    // A call that this architecture does not have cannot be made.
    return number === undefined
      ? []
      : [`check(${JSON.stringify(name)}, ${errno}, ${[number, ...args].join(", ")})`];
  });
  return `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.cast(ctypes.create_string_buffer(4096), ctypes.c_void_p).value
ends = socket.socketpair()
own, peer = [end.fileno() for end in ends]
file = os.open("/tmp/victim", os.O_RDWR | os.O_CREAT)
def check(name, errno, *args):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(arg) for arg in args])
    got = ctypes.get_errno() if result == -1 else 0
    if got != errno:
        print("THROUGH", name, args[1:], "ended in", got, "not in", errno)
${lines.join("\n")}
print("done", ${lines.length})
`;
}
