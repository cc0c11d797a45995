import { PromptValidationError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { MarkdownSection } from "./markdown-section.ts";
import { readingTools, writingTools } from "./vfs-tools.ts";

/** Which files, and whether they may be changed. */
export interface VfsToolsSectionOptions {
  readonly filesystem: Filesystem;
  /** @default "files" */
  readonly key?: string | undefined;
  /** Leaves the writing tools out. @default the file system's own */
  readonly readOnly?: boolean | undefined;
}

const guidance = `
  You have files, below one root. Paths are relative to it: docs/notes.md.
  Look with ls, glob and grep, and read a file before you change it.
`;

/** Lets the model work on files by tools that run here. */
export class VfsToolsSection extends MarkdownSection {
  /** Tools find it as `context.filesystem`; a failed call's changes to it are undone. */
  readonly filesystem: Filesystem;
  readonly readOnly: boolean;

  constructor(options: VfsToolsSectionOptions) {
    const filesystem = checkFilesystem(options?.filesystem);
    const { key = "files", readOnly = filesystem.readOnly } = options;
    const writing = readOnly ? [] : writingTools(filesystem);
    const tools = [...readingTools(filesystem), ...writing];
    super({ key, title: "Files", template: guidance, tools });
    this.filesystem = filesystem;
    this.readOnly = readOnly;
  }

  /** The same tools on the same files. */
  override clone(options: Partial<VfsToolsSectionOptions> = {}): this {
    const { filesystem, key, readOnly } = this;
    return new VfsToolsSection({ filesystem, key, readOnly, ...options }) as this;
  }
}

function checkFilesystem(filesystem: Filesystem | undefined): Filesystem {
  if (typeof filesystem?.readBytes === "function") return filesystem;
  throw new PromptValidationError({
    field: "VfsToolsSection.filesystem",
    value: filesystem,
    rule: "must be a Filesystem",
    remedy: 'new HostFilesystem("workspace") or new InMemoryFilesystem()',
  });
}
