import { describe, expect, test } from "vitest";
import { toFailureMessage, toSuccessMessage } from "./native-tools.ts";

const bash = { stdout: "", stderr: "", interrupted: false, isImage: false };
const file = { file_path: "/folder/a.txt" };

describe("toSuccessMessage()", () => {
  test.each([
    ["Bash", {}, { ...bash, stdout: "hi\nerr" }, "hi\nerr"],
    ["Bash", {}, { ...bash, noOutputExpected: true }, "Ran and printed nothing"],
    [
      "Bash",
      {},
      { ...bash, stdout: "/tmp", stderr: "\nShell cwd was reset to /work" },
      "/tmp\nShell cwd was reset to /work",
    ],
    [
      "Bash",
      {},
      { ...bash, stdout: "half\n", interrupted: true },
      "half\nThe command was interrupted",
    ],
    [
      "Read",
      file,
      { type: "text", file: { filePath: "a.txt", content: "x" } },
      "Read /folder/a.txt",
    ],
    ["Write", file, { type: "create", filePath: "a.txt" }, "Created /folder/a.txt"],
    ["Write", file, { type: "update", filePath: "a.txt" }, "Overwrote /folder/a.txt"],
    ["Edit", file, { filePath: "a.txt", oldString: "a", newString: "b" }, "Edited /folder/a.txt"],
    ["Glob", {}, { filenames: ["sub/b.txt", "a.txt"], numFiles: 2 }, "sub/b.txt\na.txt"],
    ["Glob", {}, { filenames: [], numFiles: 0 }, "Nothing found"],
    ["Grep", {}, { mode: "files_with_matches", filenames: ["a.txt"] }, "a.txt"],
    ["Grep", {}, { mode: "content", filenames: [], content: "1:hello" }, "1:hello"],
    ["Grep", {}, null, "Nothing found"],
    ["Bash", {}, "as text", "as text"],
  ])("summarizes %s with %j and %j as %j", (name, input, response, message) => {
    expect(toSuccessMessage(name, input, response)).toBe(message);
  });

  test("truncates to 10,000 characters without splitting surrogate pairs", () => {
    const message = toSuccessMessage(
      "Bash",
      {},
      { ...bash, stdout: `${"x".repeat(9_999)}🦉 and more` },
    );
    expect(message).toHaveLength(10_000 + "… (10 more characters)".length);
    expect(message.isWellFormed()).toBe(true);
    expect(message).toMatch(/… \(10 more characters\)$/);
  });
});

describe("toFailureMessage()", () => {
  test.each([
    ["Exit code 3\nout\nerr", "Exit code 3\nout\nerr"],
    [
      "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
      "File has not been read yet. Read it first.",
    ],
    [
      "<tool_use_error>Error: No such tool available: Nope</tool_use_error>",
      "No such tool available: Nope",
    ],
    ["PreToolUse:Read hook error: Read may not leave", "Read may not leave"],
    ["", "The call failed"],
  ])("converts %j to %j", (error, message) => {
    expect(toFailureMessage(error)).toBe(message);
  });
});
