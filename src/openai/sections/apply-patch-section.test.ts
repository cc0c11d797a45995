import { describe, expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { OpenAIApplyPatchSection } from "./apply-patch-section.ts";

describe("an apply patch section", () => {
  test("patches the prompt's workspace, unless told otherwise", () => {
    const section = new OpenAIApplyPatchSection();
    expect(section.defaultParams).toEqual({});
    expect(section.tool).toMatchObject({ kind: "apply_patch", config: {}, live: {} });
  });

  test("patches the files that it is given, and so does its clone", () => {
    const filesystem = new InMemoryFilesystem();
    const section = new OpenAIApplyPatchSection({ filesystem });
    for (const one of [section, section.clone(), section.clone({ key: "other" })]) {
      expect(one.tool.live.filesystem).toBe(filesystem);
    }
    const other = new InMemoryFilesystem();
    expect(section.clone({ filesystem: other }).tool.live.filesystem).toBe(other);
  });

  test("refuses what is no file system", () => {
    const make = () => new OpenAIApplyPatchSection({ key: "edit", filesystem: {} } as never);
    expect(make).toThrow('Section "edit" filesystem must be a Filesystem, got {}. Pass one');
  });
});
