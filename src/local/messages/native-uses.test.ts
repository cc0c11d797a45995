import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { nativeUses, pythonCommand } from "./native-uses.ts";

const all = ["Bash", "Read", "Write", "Edit", "WebSearch", "WebFetch"].map((name) => ({ name }));

describe("code on the Messages API", () => {
  test.each([
    "print(6 * 7)",
    "print('''PYTHON\nPYTHON_\n$HOME `id` \\\\ \" ' !x''')",
    "PYTHON = 1\nprint(PYTHON)",
    "text = '''\nPYTHON\n'''\nprint(text)",
    "print('ä€😀')\n\n",
  ])("is run by a shell as it is written: %j", (code) => {
    const direct = execFileSync("python3", ["-c", code], { encoding: "utf8" });
    const command = pythonCommand(code);
    expect(execFileSync("bash", ["-c", command], { encoding: "utf8" })).toBe(direct);
  });
});

describe("an action on the Messages API", () => {
  test("is a call of a tool that the client has", () => {
    const shell = nativeUses({ shell: ["ls", "pwd"] }, all);
    expect(shell).toEqual([
      { name: "Bash", input: { command: "ls" } },
      { name: "Bash", input: { command: "pwd" } },
    ]);
    expect(nativeUses({ code: "1" }, all)).toMatchObject([{ name: "Bash" }]);
    for (const search of ["x", { web: "x" }])
      expect(nativeUses({ search }, all)).toEqual([{ name: "WebSearch", input: { query: "x" } }]);
    expect(nativeUses({ search: { open: "https://a.com" } }, all)).toMatchObject([
      { name: "WebFetch", input: { url: "https://a.com" } },
    ]);
    expect(nativeUses({ search: { find: "x", in: "https://a.com" } }, all)).toMatchObject([
      { name: "WebFetch", input: { url: "https://a.com", prompt: "Find: x" } },
    ]);
  });

  test("fails where the request does not offer its tool, and says which", () => {
    const missing = (name: string) => all.filter((tool) => tool.name !== name);
    expect(() => nativeUses({ code: "1" }, missing("Bash"))).toThrow(
      "The model ran code, and the request offers no tool Bash: offer it",
    );
    expect(() => nativeUses({ shell: ["ls"] }, [])).toThrow(
      "ran a command, and the request offers",
    );
    expect(() => nativeUses({ search: "x" }, missing("WebSearch"))).toThrow("no tool WebSearch");
    const patch = [{ type: "create_file", path: "a.txt", diff: "+a" }];
    expect(() => nativeUses({ patch }, missing("Write"))).toThrow("no tool Write");
  });

  test("cannot search files", () => {
    expect(() => nativeUses({ search: { file: "x" } }, all)).toThrow(
      "The model searched files, and the Messages API has no file search",
    );
  });
});

describe("a patch on the Messages API", () => {
  const uses = (patch: readonly object[], tools = all) => nativeUses({ patch }, tools);

  test("writes new files, edits what was read, and removes", () => {
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

  test("reads only where reading is offered", () => {
    const patch = [{ type: "update_file", path: "a.txt", diff: "-a\n\n+b" }];
    expect(uses(patch, [{ name: "Edit" }])).toEqual([
      { name: "Edit", input: { file_path: "a.txt", old_string: "a\n", new_string: "\nb" } },
    ]);
  });

  test("adds after the line that it names, and must say where", () => {
    const patch = [{ type: "update_file", path: "a.txt", diff: "@@ def f():\n+  pass" }];
    expect(uses(patch)[1]?.input).toMatchObject({
      old_string: "def f():",
      new_string: "def f():\n  pass",
    });
    expect(() => uses([{ type: "update_file", path: "a.txt", diff: "+b" }])).toThrow(
      "The model wrote a patch of 'a.txt' with a hunk that says nothing of where it belongs",
    );
    expect(() => uses([{ type: "move_file", path: "a.txt" }])).toThrow(
      "The model wrote a patch with an operation of type 'move_file'.",
    );
  });
});
