import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Session } from "../../session/session.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { Prompt } from "../prompt.ts";
import type { Section } from "../section.ts";
import { PromptTemplate } from "../template.ts";
import { MarkdownSection } from "./markdown-section.ts";
import { VfsToolsSection } from "./vfs-tools-section.ts";

async function filled(files: Readonly<Record<string, string>> = {}): Promise<Filesystem> {
  const filesystem = new InMemoryFilesystem();
  for (const [path, text] of Object.entries(files)) await filesystem.writeText(path, text);
  return filesystem;
}

/** What the model reads of each call, made one after the other on the same files. */
async function called(
  filesystem: Filesystem,
  calls: readonly (readonly [string, object])[],
  more: readonly Section[] = [],
) {
  const sections = [new VfsToolsSection({ filesystem }), ...more];
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "files", sections }));
  const turns = calls.map(([name, args]) => ({ toolCalls: [{ name, arguments: args }] }));
  const model = scriptedClient(...turns, { text: "Done." });
  await model.evaluate(prompt, { session: new Session() });
  return model.asked.slice(1).map(({ answers }) => answers[0]?.text ?? "");
}

const named = (section: VfsToolsSection) => section.tools().map(({ name }) => name);

describe("the section", () => {
  test("has tools to look and to change, and is the prompt's workspace", async () => {
    const filesystem = await filled();
    const section = new VfsToolsSection({ filesystem });
    expect(named(section)).toEqual(["ls", "read", "glob", "grep", "write", "edit", "rm"]);
    const prompt = new Prompt(new PromptTemplate({ ns: "a", key: "b", sections: [section] }));
    expect(prompt.filesystem()).toBe(filesystem);
    expect(prompt.render().text).toMatch(/^## 1\. Files \(files\)\n\nYou have files/);
  });

  test("leaves the changing tools out where files may only be read", async () => {
    const reading = ["ls", "read", "glob", "grep"];
    expect(named(new VfsToolsSection({ filesystem: await filled(), readOnly: true }))).toEqual(
      reading,
    );
    const filesystem = new InMemoryFilesystem({ readOnly: true });
    expect(named(new VfsToolsSection({ filesystem }))).toEqual(reading);
  });

  test("is cloned with its files, another key or other rights", async () => {
    const section = new VfsToolsSection({ filesystem: await filled(), key: "docs" });
    const clone = section.clone({ readOnly: true });
    expect(clone).toBeInstanceOf(VfsToolsSection);
    expect(clone).toMatchObject({ key: "docs", readOnly: true, filesystem: section.filesystem });
    expect(section.clone({ key: "other" }).key).toBe("other");
  });

  test.each([undefined, {}, { filesystem: {} }])("refuses %j", (options) => {
    expect(() => new VfsToolsSection(options as never)).toThrow(PromptValidationError);
  });
});

describe("the model", () => {
  test("looks around", async () => {
    const filesystem = await filled({ "a.txt": "1\n2\n3\n", "docs/b.md": "owls\nand more owls\n" });
    const read = await called(filesystem, [
      ["ls", {}],
      ["ls", { path: "docs" }],
      ["read", { path: "a.txt" }],
      ["read", { path: "a.txt", offset: 1, limit: 1 }],
      ["glob", { pattern: "*.md" }],
      ["glob", { pattern: "*.ts" }],
      ["grep", { pattern: "owl" }],
      ["grep", { pattern: "owl", glob: "*.txt" }],
    ]);
    expect(read).toEqual([
      "a.txt\ndocs/",
      "b.md",
      "1\n2\n3\n",
      "Lines from 1 on, of 3: ask for more with offset.\n\n2",
      "docs/b.md",
      "Nothing matches.",
      "docs/b.md:1: owls\ndocs/b.md:2: and more owls",
      "Nothing matches.",
    ]);
  });

  test("writes, edits and deletes, and keeps what it did not touch", async () => {
    const filesystem = await filled({ "a.txt": "one\r\ntwo\r\nlast line" });
    const read = await called(filesystem, [
      ["write", { path: "new/b.txt", content: "hello\n" }],
      ["edit", { path: "a.txt", old_text: "two", new_text: "2" }],
      ["rm", { path: "new/b.txt" }],
      ["ls", { path: "new" }],
    ]);
    expect(read).toEqual([
      "Wrote new/b.txt.",
      "Replaced it once.",
      "Deleted new/b.txt.",
      "It is empty.",
    ]);
    expect(await filesystem.readText("a.txt")).toBe("one\r\n2\r\nlast line");
  });

  test.each([
    ["nothing to replace", { old_text: "", new_text: "x" }, "old_text is empty"],
    ["nothing changed", { old_text: "a", new_text: "a" }, "are the same"],
    ["what is not there", { old_text: "owl", new_text: "x" }, "old_text is not in f.txt"],
    ["what is there twice", { old_text: "a", new_text: "x" }, "old_text is in f.txt 2 times"],
  ])("is told of an edit with %s", async (_, args, message) => {
    const filesystem = await filled({ "f.txt": "a b a" });
    const [read] = await called(filesystem, [["edit", { path: "f.txt", ...args }]]);
    expect(read).toContain(message);
    expect(await filesystem.readText("f.txt")).toBe("a b a");
  });

  test("replaces all of it if it says so, taking nothing in it for a pattern", async () => {
    const filesystem = await filled({ "f.txt": "a.b a.b axb" });
    const args = { path: "f.txt", old_text: "a.b", new_text: "$&", all: true };
    expect(await called(filesystem, [["edit", args]])).toEqual(["Replaced it 2 times."]);
    expect(await filesystem.readText("f.txt")).toBe("$& $& axb");
  });

  test.each([
    ["../secret", 'has a ".." in it'],
    ["/etc/passwd", "starts or ends with a slash"],
    ["a//b", "two in a row"],
    ["a/./b", 'has a "." in it'],
    ["docs/ö.txt", "is not plain ASCII"],
    [`${"x".repeat(81)}`, "more than 80 characters"],
    [Array.from({ length: 17 }, () => "d").join("/"), "17 levels deep"],
  ])("cannot use the path %s", async (path, problem) => {
    const filesystem = await filled();
    const read = await called(filesystem, [
      ["read", { path }],
      ["write", { path, content: "x" }],
      ["rm", { path }],
    ]);
    for (const text of read) expect(text).toContain(problem);
    expect(await filesystem.glob("*")).toEqual([]);
  });

  test("may go as deep and as long as the limits are", async () => {
    const path = [...Array.from({ length: 15 }, () => "d"), "x".repeat(80)].join("/");
    const filesystem = await filled();
    expect(await called(filesystem, [["write", { path, content: "x" }]])).toEqual([
      `Wrote ${path}.`,
    ]);
  });

  test("cannot write more than 32 MiB at once", async () => {
    const filesystem = await filled();
    const content = "x".repeat(32 * 1024 * 1024 + 1);
    const [read] = await called(filesystem, [["write", { path: "big", content }]]);
    expect(read).toContain("write at most 33554432 at once");
    expect(await filesystem.exists("big")).toBe(false);
  });

  test("is told what the file system refuses", async () => {
    const read = await called(await filled({ "a/b": "" }), [
      ["read", { path: "nought" }],
      ["read", { path: "a" }],
      ["rm", { path: "a" }],
      ["grep", { pattern: "(" }],
    ]);
    expect(read[0]).toContain("ENOENT");
    expect(read[1]).toContain("EISDIR");
    expect(read[2]).toContain("EISDIR");
    expect(read[3]).toContain("EINVAL");
  });
});

test("what a failed call changed is undone, byte for byte", async () => {
  const filesystem = await filled({ "kept.txt": "old" });
  const spoil = new Tool({
    name: "spoil",
    description: "Spoils.",
    params: null,
    handler: async (_params, { filesystem: files }) => {
      await files?.writeText("kept.txt", "new");
      await files?.writeText("more/made.txt", "made");
      return ToolResult.error("It went wrong halfway.");
    },
  });
  const section = new MarkdownSection({ key: "s", title: "S", template: "", tools: [spoil] });
  await called(filesystem, [["spoil", {}]], [section]);
  expect(await filesystem.readText("kept.txt")).toBe("old");
  expect(await filesystem.exists("more")).toBe(false);
});
