import { vi } from "vitest";
import { type CommandActions, createProgram } from "../../../src/cli/create-program.ts";
import { toExitCode } from "../../../src/cli/to-exit-code.ts";
import { silentActions } from "./silent-actions.ts";

/** Runs a command line of `wink` in this process, with the given actions. Returns its output and its exit code. */
export async function runWink(actions: Partial<CommandActions>, args: readonly string[]) {
  let [out, err] = ["", ""];
  const before = process.exitCode;
  process.exitCode = undefined;
  const decode = (piece: string | Uint8Array) =>
    typeof piece === "string" ? piece : new TextDecoder().decode(piece);
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((piece) => {
      out += decode(piece);
      return true;
    }),
    vi.spyOn(process.stderr, "write").mockImplementation((piece) => {
      err += decode(piece);
      return true;
    }),
    vi.spyOn(console, "log").mockImplementation((text) => {
      out += `${text}\n`;
    }),
    vi.spyOn(console, "error").mockImplementation((text) => {
      err += `${text}\n`;
    }),
  ];
  try {
    const program = createProgram("0.0.0", { ...silentActions, ...actions });
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = toExitCode(error);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  const code = process.exitCode ?? 0;
  process.exitCode = before;
  return { out, err, code };
}
