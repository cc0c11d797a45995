import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { toPythonCommand } from "./python-command.ts";
import { toSdkToolUses } from "./sdk-tool-uses.ts";

const all = ["Bash", "Read", "Write", "Edit", "WebSearch", "WebFetch"].map((name) => ({ name }));

describe("code on the Messages API", () => {
  test.each([
    "print(6 * 7)",
    "print('''PYTHON\nPYTHON_\n$HOME `id` \\\\ \" ' !x''')",
    "PYTHON = 1\nprint(PYTHON)",
    "text = '''\nPYTHON\n'''\nprint(text)",
    "print('ä€😀')\n\n",
  ])("is passed to Python unchanged: %j", (code) => {
    const direct = execFileSync("python3", ["-c", code], { encoding: "utf8" });
    const command = toPythonCommand(code);
    expect(execFileSync("bash", ["-c", command], { encoding: "utf8" })).toBe(direct);
  });
});

describe("an action on the Messages API", () => {
  test("becomes a call of the SDK's tool", () => {
    const shell = toSdkToolUses({ shell: ["ls", "pwd"] }, all);
    expect(shell).toEqual([
      { name: "Bash", input: { command: "ls" } },
      { name: "Bash", input: { command: "pwd" } },
    ]);
    expect(toSdkToolUses({ code: "1" }, all)).toMatchObject([{ name: "Bash" }]);
    for (const search of ["x", { web: "x" }])
      expect(toSdkToolUses({ search }, all)).toEqual([
        { name: "WebSearch", input: { query: "x" } },
      ]);
    expect(toSdkToolUses({ search: { open: "https://a.com" } }, all)).toMatchObject([
      { name: "WebFetch", input: { url: "https://a.com" } },
    ]);
    expect(toSdkToolUses({ search: { find: "x", in: "https://a.com" } }, all)).toMatchObject([
      { name: "WebFetch", input: { url: "https://a.com", prompt: "Find: x" } },
    ]);
  });

  test("becomes a call of Anthropic's own tools, if the request offers them", () => {
    const own = [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      ...all,
    ];
    expect(toSdkToolUses({ shell: ["ls"] }, own)).toEqual([
      { name: "bash", input: { command: "ls" } },
    ]);
    expect(toSdkToolUses({ code: "1" }, own)).toMatchObject([{ name: "bash" }]);
    const patch = [
      { type: "create_file", path: "a.txt", diff: "+a" },
      { type: "update_file", path: "a.txt", diff: "-a\n+b" },
      { type: "delete_file", path: "a.txt" },
    ];
    const [, { name: editor = "" } = {}] = own;
    expect(toSdkToolUses({ patch }, own)).toEqual([
      { name: editor, input: { command: "create", path: "a.txt", file_text: "a\n" } },
      {
        name: editor,
        input: { command: "str_replace", path: "a.txt", old_str: "a", new_str: "b" },
      },
      { name: "bash", input: { command: "rm -- 'a.txt'" } },
    ]);
  });

  test("cannot search files", () => {
    expect(() => toSdkToolUses({ search: { file: "x" } }, all)).toThrow(
      "the model searched files, but the Messages API has no file search",
    );
  });
});

describe("a patch on the Messages API", () => {
  const uses = (patch: readonly object[], tools = all) => toSdkToolUses({ patch }, tools);

  test("writes new files, edits files after reading them, and deletes files", () => {
    const diff = "@@ def f():\n one\n-two\n+2\n@@\n three\n+four\n*** End of File\n";
    expect(
      uses([
        { type: "create_file", path: "new.txt", diff: "+a\n+\n+b\n" },
        { type: "update_file", path: "old.txt", diff },
        { type: "delete_file", path: "it's.txt" },
      ]),
    ).toEqual([
      { name: "Write", input: { file_path: "new.txt", content: "a\n\nb\n" } },
      { name: "Read", input: { file_path: "old.txt" } },
      {
        name: "Edit",
        input: { file_path: "old.txt", old_string: "one\ntwo", new_string: "one\n2" },
      },
      {
        name: "Edit",
        input: { file_path: "old.txt", old_string: "three", new_string: "three\nfour" },
      },
      { name: "Bash", input: { command: "rm -- 'it'\\''s.txt'" } },
    ]);
  });

  test("reads files only if Read is offered", () => {
    const patch = [{ type: "update_file", path: "a.txt", diff: "-a\n\n+b" }];
    expect(uses(patch, [{ name: "Edit" }])).toEqual([
      { name: "Edit", input: { file_path: "a.txt", old_string: "a\n", new_string: "\nb" } },
    ]);
  });

  test("inserts after the anchor line, and requires a position", () => {
    const patch = [{ type: "update_file", path: "a.txt", diff: "@@ def f():\n+  pass" }];
    expect(uses(patch)[1]?.input).toMatchObject({
      old_string: "def f():",
      new_string: "def f():\n  pass",
    });
    expect(() => uses([{ type: "update_file", path: "a.txt", diff: "+b" }])).toThrow(
      "the model wrote a patch of 'a.txt' with a hunk that has no position",
    );
    expect(() => uses([{ type: "move_file", path: "a.txt" }])).toThrow(
      "the model wrote a patch with an unknown operation type 'move_file'. Use create_file, update_file or delete_file.",
    );
  });
});
