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

async function createFilesystem(files: Readonly<Record<string, string>> = {}): Promise<Filesystem> {
  const filesystem = new InMemoryFilesystem();
  for (const [path, text] of Object.entries(files)) await filesystem.writeText(path, text);
  return filesystem;
}

/**
 * Runs these calls on the same files, one after the other, and returns the results that the model
 * reads.
 */
async function runCalls(
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

const listToolNames = (section: VfsToolsSection) => section.tools().map(({ name }) => name);

describe("VfsToolsSection", () => {
  test("has tools to read and write, and is the prompt's workspace", async () => {
    const filesystem = await createFilesystem();
    const section = new VfsToolsSection({ filesystem });
    expect(listToolNames(section)).toEqual(["ls", "read", "glob", "grep", "write", "edit", "rm"]);
    const prompt = new Prompt(new PromptTemplate({ ns: "a", key: "b", sections: [section] }));
    expect(prompt.filesystem()).toBe(filesystem);
    expect(prompt.render().text).toMatch(/^## 1\. Files \(files\)\n\nYou can work with the files/);
  });

  test("omits the tools that write if files are read-only", async () => {
    const reading = ["ls", "read", "glob", "grep"];
    expect(
      listToolNames(new VfsToolsSection({ filesystem: await createFilesystem(), readOnly: true })),
    ).toEqual(reading);
    const filesystem = new InMemoryFilesystem({ readOnly: true });
    expect(listToolNames(new VfsToolsSection({ filesystem }))).toEqual(reading);
  });

  test("is cloned with its files, and with another key or readOnly", async () => {
    const section = new VfsToolsSection({ filesystem: await createFilesystem(), key: "docs" });
    const clone = section.clone({ readOnly: true });
    expect(clone).toBeInstanceOf(VfsToolsSection);
    expect(clone).toMatchObject({ key: "docs", readOnly: true, filesystem: section.filesystem });
    expect(section.clone({ key: "other" }).key).toBe("other");
  });

  test.each([undefined, {}, { filesystem: {} }])("rejects %j", (options) => {
    expect(() => new VfsToolsSection(options as never)).toThrow(PromptValidationError);
  });
});

describe("the file tools", () => {
  test("list, read and search files", async () => {
    const filesystem = await createFilesystem({
      "a.txt": "1\n2\n3\n",
      "docs/b.md": "owls\nand more owls\n",
    });
    const read = await runCalls(filesystem, [
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
      "Lines from 1 of 3. Use offset to read more.\n\n2",
      "docs/b.md",
      "No matches.",
      "docs/b.md:1: owls\ndocs/b.md:2: and more owls",
      "No matches.",
    ]);
  });

  test("write, edit and delete files, and leave others unchanged", async () => {
    const filesystem = await createFilesystem({ "a.txt": "one\r\ntwo\r\nlast line" });
    const read = await runCalls(filesystem, [
      ["write", { path: "new/b.txt", content: "hello\n" }],
      ["edit", { path: "a.txt", old_text: "two", new_text: "2" }],
      ["rm", { path: "new/b.txt" }],
      ["ls", { path: "new" }],
    ]);
    expect(read).toEqual([
      "Wrote new/b.txt.",
      "Replaced 1 occurrence.",
      "Deleted new/b.txt.",
      "The directory is empty.",
    ]);
    expect(await filesystem.readText("a.txt")).toBe("one\r\n2\r\nlast line");
  });

  test.each([
    ["an empty old_text", { old_text: "", new_text: "x" }, "old_text is empty"],
    ["identical texts", { old_text: "a", new_text: "a" }, "are the same"],
    ["a missing text", { old_text: "owl", new_text: "x" }, "old_text is not in f.txt"],
    ["an ambiguous text", { old_text: "a", new_text: "x" }, "old_text occurs in f.txt 2 times"],
  ])("reject an edit with %s", async (_, args, message) => {
    const filesystem = await createFilesystem({ "f.txt": "a b a" });
    const [read] = await runCalls(filesystem, [["edit", { path: "f.txt", ...args }]]);
    expect(read).toContain(message);
    expect(await filesystem.readText("f.txt")).toBe("a b a");
  });

  test("replace every occurrence literally if all is set", async () => {
    const filesystem = await createFilesystem({ "f.txt": "a.b a.b axb" });
    const args = { path: "f.txt", old_text: "a.b", new_text: "$&", all: true };
    expect(await runCalls(filesystem, [["edit", args]])).toEqual(["Replaced 2 occurrences."]);
    expect(await filesystem.readText("f.txt")).toBe("$& $& axb");
  });

  test.each([
    ["../secret", 'contains ".."'],
    ["/etc/passwd", "starts or ends with a slash"],
    ["a//b", "two in a row"],
    ["a/./b", 'contains "."'],
    ["docs/ö.txt", "is not plain ASCII"],
    [`${"x".repeat(81)}`, "longer than 80 characters"],
    [Array.from({ length: 17 }, () => "d").join("/"), "17 levels deep"],
  ])("reject the path %s", async (path, problem) => {
    const filesystem = await createFilesystem();
    const read = await runCalls(filesystem, [
      ["read", { path }],
      ["write", { path, content: "x" }],
      ["rm", { path }],
    ]);
    for (const text of read) expect(text).toContain(problem);
    expect(await filesystem.glob("*")).toEqual([]);
  });

  test("accept paths of the maximum depth and length", async () => {
    const path = [...Array.from({ length: 15 }, () => "d"), "x".repeat(80)].join("/");
    const filesystem = await createFilesystem();
    expect(await runCalls(filesystem, [["write", { path, content: "x" }]])).toEqual([
      `Wrote ${path}.`,
    ]);
  });

  test("reject a text of more than 32 MiB", async () => {
    const filesystem = await createFilesystem();
    const content = "x".repeat(32 * 1024 * 1024 + 1);
    const [read] = await runCalls(filesystem, [["write", { path: "big", content }]]);
    expect(read).toContain("Write at most 33554432 bytes at once.");
    expect(await filesystem.exists("big")).toBe(false);
  });

  test("report errors of the file system", async () => {
    const read = await runCalls(await createFilesystem({ "a/b": "" }), [
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

test("changes of a failed call are undone byte for byte", async () => {
  const filesystem = await createFilesystem({ "kept.txt": "old" });
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
  await runCalls(filesystem, [["spoil", {}]], [section]);
  expect(await filesystem.readText("kept.txt")).toBe("old");
  expect(await filesystem.exists("more")).toBe(false);
});

test("the file tools show a limited number of names, matches and characters, and name the limit", async () => {
  const filesystem = new InMemoryFilesystem();
  for (let n = 0; n < 2001; n++) await filesystem.writeText(`d/${n}`, "owl\n");
  await filesystem.writeText("a", "x".repeat(1_000_001));
  const [ls, glob, grep, read] = await runCalls(filesystem, [
    ["ls", { path: "d" }],
    ["glob", { pattern: "d/*" }],
    ["grep", { pattern: "owl" }],
    ["read", { path: "a" }],
  ]);
  expect(ls).toMatch(/^The first 2000 of 2001\. Use glob to find the others\.\n\n0\n1\n/);
  expect(glob).toMatch(/^The first 2000 of 2001\. Use a narrower pattern\.\n\nd\/0\n/);
  expect(grep).toMatch(
    /^The first 1000 matches:\nThe search is incomplete: Skipped lines of more than 100000 characters: 1\./,
  );
  expect(read).toHaveLength(
    1_000_000 +
      "Lines from 0 of 1, cut after 1000000 characters. Use grep to find text in long lines.\n\n"
        .length,
  );
});
