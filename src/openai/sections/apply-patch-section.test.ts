import { describe, expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { OpenAIApplyPatchSection } from "./apply-patch-section.ts";

describe("OpenAIApplyPatchSection", () => {
  test("uses the prompt's workspace by default", () => {
    const section = new OpenAIApplyPatchSection();
    expect(section.defaultParams).toEqual({});
    expect(section.tool).toMatchObject({ kind: "apply_patch", config: {}, live: {} });
  });

  test("uses the given file system, also in clones", () => {
    const filesystem = new InMemoryFilesystem();
    const section = new OpenAIApplyPatchSection({ filesystem });
    for (const one of [section, section.clone(), section.clone({ key: "other" })]) {
      expect(one.tool.live.filesystem).toBe(filesystem);
    }
    const other = new InMemoryFilesystem();
    expect(section.clone({ filesystem: other }).tool.live.filesystem).toBe(other);
  });

  test("asks for approval, also in clones", () => {
    const section = new OpenAIApplyPatchSection({ needsApproval: true });
    expect(section.tool.live.needsApproval).toBe(true);
    expect(section.clone({ key: "other" }).tool.live.needsApproval).toBe(true);
  });

  test("rejects a value that is not a Filesystem", () => {
    const create = () => new OpenAIApplyPatchSection({ key: "edit", filesystem: {} } as never);
    expect(create).toThrow('Section "edit" filesystem must be a Filesystem, got {}. Pass one');
  });
});
