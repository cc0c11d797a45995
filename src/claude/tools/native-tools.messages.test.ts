import { describe, expect, test } from "vitest";
import { nativeFailure, nativeMessage } from "./native-tools.ts";

const bash = { stdout: "", stderr: "", interrupted: false, isImage: false };
const file = { file_path: "/folder/a.txt" };

describe("a call that went well says", () => {
  test.each([
    ["Bash", {}, { ...bash, stdout: "hi\nerr" }, "hi\nerr"],
    ["Bash", {}, { ...bash, noOutputExpected: true }, "Ran and printed nothing"],
    [
      "Bash",
      {},
      { ...bash, stdout: "/tmp", stderr: "\nShell cwd was reset to /work" },
      "/tmp\nShell cwd was reset to /work",
    ],
    ["Bash", {}, { ...bash, stdout: "half\n", interrupted: true }, "half\nIt was interrupted"],
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
  ])("%s with %j and %j: %j", (name, input, response, message) => {
    expect(nativeMessage(name, input, response)).toBe(message);
  });

  test("no more than an event should keep, and no half characters", () => {
    const said = nativeMessage("Bash", {}, { ...bash, stdout: `${"x".repeat(9_999)}🦉 and more` });
    expect(said).toHaveLength(10_000 + "… (10 more characters)".length);
    expect(said.isWellFormed()).toBe(true);
    expect(said).toMatch(/… \(10 more characters\)$/);
  });
});

describe("a call that failed says", () => {
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
    ["", "It failed"],
  ])("%j as %j", (error, message) => {
    expect(nativeFailure(error)).toBe(message);
  });
});
