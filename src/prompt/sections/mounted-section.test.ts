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

test("isWorkspace() accepts a section with a file system", () => {
  expect(isWorkspace(new WithFiles({ readBytes() {} }))).toBe(true);
});

test.each([[null], [undefined], ["/tmp"], [{}]])(
  "isWorkspace() rejects a section whose files are %j",
  (files) => {
    expect(isWorkspace(new WithFiles(files))).toBe(false);
  },
);

test("isWorkspace() rejects a section without files", () => {
  expect(isWorkspace(new WithoutFiles({ key: "k", title: "K" }))).toBe(false);
});
