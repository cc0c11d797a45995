import type { ModelAction } from "weakincentives/local";

/** Appends to a file with code and then with a call, twice. It goes by the conversation, in every process. */
export function chooseFileActions(items: readonly object[]): readonly ModelAction[] {
  const types = items.map((item) => Object(item).type);
  const calls = types.filter((type) => type === "function_call_output").length;
  if (calls === 2) return [{ say: "Done." }];
  if (types.at(-1) === "code_interpreter_call") return [{ call: { name: "append", args: {} } }];
  return [{ code: `print("code ${calls}", file=open("/mnt/data/p/log.txt", "a"))` }];
}
