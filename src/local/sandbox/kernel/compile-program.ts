import { spawn } from "node:child_process";
import { SANDBOX_PROGRAM } from "./sandbox-program.ts";

const compiled = new Map<string, Promise<string>>();

/**
 * Compiles the supervisor's program with the host's Python, once per process: compiling it in each sandbox takes as
 * long as Python's own start. Returns a short program that loads the result; the source itself if it cannot be compiled.
 */
export function compileSandboxProgram(python: string): Promise<string> {
  const known = compiled.get(python) ?? compile(python).catch(() => SANDBOX_PROGRAM);
  compiled.set(python, known);
  return known;
}

const COMPILER = `
import binascii, marshal, sys, zlib
code = compile(sys.stdin.read(), "<sandbox>", "exec")
print(binascii.b2a_base64(zlib.compress(marshal.dumps(code)), newline=False).decode())
`;

async function compile(python: string): Promise<string> {
  const child = spawn(python, ["-I", "-B", "-S", "-c", COMPILER], {
    cwd: "/",
    env: { LANG: "C.UTF-8" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  child.stdin.on("error", () => {}); // it exited early, which its exit code reports
  child.stdin.end(SANDBOX_PROGRAM);
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  if ((await ended) !== 0) throw new Error(`${python} did not compile the program.`);
  return `import binascii, marshal, zlib\nexec(marshal.loads(zlib.decompress(binascii.a2b_base64("${text.trim()}"))))`;
}
