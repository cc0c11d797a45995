import { describe, expect, test } from "vitest";
import { readEditorResult } from "./create-editor-code.ts";

const run = {
  stdout: "",
  stderr: "",
  error: null,
  images: [],
  timedOut: false,
  truncated: false,
  died: false,
};

describe("readEditorResult()", () => {
  test("reports an edit that took too long or did not run", () => {
    const failure = { type: "text_editor_code_execution_tool_result_error" };
    expect(readEditorResult({ ...run, timedOut: true })).toEqual({
      ...failure,
      error_code: "execution_time_exceeded",
      error_message: null,
    });
    for (const stdout of ["", "[]"])
      expect(readEditorResult({ ...run, stdout, error: "MemoryError", died: true })).toEqual({
        ...failure,
        error_code: "unavailable",
        error_message: "MemoryError",
      });
  });
});
