import { expect, test } from "vitest";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { Section } from "../section.ts";
import { isWorkspace } from "./mounted-section.ts";

class WithFiles extends Section {
  readonly filesystem: Filesystem;

  constructor(filesystem: unknown) {
    super({ key: "files", title: "Files" });
    this.filesystem = filesystem as Filesystem;
  }

  override render(): string {
    return "";
  }
}

class WithoutFiles extends Section {
  override render(): string {
    return "";
  }
}

test("a section with a file system is a workspace", () => {
  expect(isWorkspace(new WithFiles({ readBytes() {} }))).toBe(true);
});

test.each([[null], [undefined], ["/tmp"], [{}]])(
  "a section whose files are %j is none",
  (files) => {
    expect(isWorkspace(new WithFiles(files))).toBe(false);
  },
);

test("nor is a section without files", () => {
  expect(isWorkspace(new WithoutFiles({ key: "k", title: "K" }))).toBe(false);
});
