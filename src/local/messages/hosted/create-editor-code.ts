import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { parseBoundedJson } from "../../parse-bounded-json.ts";
import type { PythonRun } from "../../sandbox/sandbox.ts";

/**
 * Returns Python code that changes a file of a container as Anthropic's text editor does, and prints the result
 * as JSON. It has its own variables, so that it does not change the variables of the model's code.
 */
export function createEditorCode(input: WireItem): string {
  const args = Buffer.from(JSON.stringify(input)).toString("base64");
  return `exec(${JSON.stringify(EDITOR)}, {"ARGS": ${JSON.stringify(args)}})`;
}

/** Reads the result that the code of {@link createEditorCode} printed. */
export function readEditorResult({ stdout, error, timedOut }: PythonRun): WireItem {
  if (timedOut) return createEditorError("execution_time_exceeded", null);
  const parsed = parseBoundedJson(stdout);
  if (parsed.ok && isPlainObject(parsed.value)) return parsed.value;
  return createEditorError("unavailable", error);
}

function createEditorError(code: string, message: string | null): WireItem {
  return {
    type: "text_editor_code_execution_tool_result_error",
    error_code: code,
    error_message: message,
  };
}

const EDITOR = `
import base64, json, os
args = json.loads(base64.b64decode(ARGS))
path = os.path.join("/mnt/data", args["path"])
kind = "text_editor_code_execution_"

def fail(code, message):
    return {"type": kind + "tool_result_error", "error_code": code, "error_message": message}

def write(text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)

def create():
    is_update = os.path.exists(path)
    write(args["file_text"])
    return {"type": kind + "create_result", "is_file_update": is_update}

def replace():
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    before, after = args["old_str"], args["new_str"]
    if text.count(before) != 1:
        return fail("invalid_tool_input", "old_str occurs %d times, not once" % text.count(before))
    start = text[: text.index(before)].count("\\n") + 1
    write(text.replace(before, after))
    old, new = before.split("\\n"), after.split("\\n")
    return {
        "type": kind + "str_replace_result",
        "old_start": start,
        "old_lines": len(old),
        "new_start": start,
        "new_lines": len(new),
        "lines": ["-" + line for line in old] + ["+" + line for line in new],
    }

try:
    result = create() if args["command"] == "create" else replace()
except FileNotFoundError as error:
    result = fail("file_not_found", str(error))
except (OSError, ValueError) as error:
    result = fail("invalid_tool_input", str(error))
print(json.dumps(result))
`;
