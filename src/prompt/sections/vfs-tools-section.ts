import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { MarkdownSection } from "./markdown-section.ts";
import { createVfsReadTools, createVfsWriteTools } from "./vfs-tools.ts";

/** Options of {@link VfsToolsSection}. */
export interface VfsToolsSectionOptions {
  /** File system that the tools work on. */
  readonly filesystem: Filesystem;
  /** Key of the section. @default "files" */
  readonly key?: string | undefined;
  /** Omits the tools that write. @default the file system's own `readOnly` */
  readonly readOnly?: boolean | undefined;
}

const keys: KnownKeys<VfsToolsSectionOptions> = {
  filesystem: true,
  key: true,
  readOnly: true,
};

const guidance = `
  You can work with the files below one root. Paths are relative to it: docs/notes.md.
  Look with ls, glob and grep, and read a file before you change it.
`;

/**
 * A section with file tools that run locally.
 *
 * @example
 * ```ts
 * import { PromptTemplate, VfsToolsSection } from "weakincentives";
 * import { HostFilesystem } from "weakincentives/files";
 *
 * const files = new VfsToolsSection({ filesystem: new HostFilesystem("./notes") });
 * const template = new PromptTemplate({ ns: "notes", key: "tidy", sections: [files] });
 * ```
 */
export class VfsToolsSection extends MarkdownSection {
  /**
   * File system that the tools work on, also available as `context.filesystem`. Changes of a failed
   * call are undone.
   */
  readonly filesystem: Filesystem;
  /** Whether the tools that write are omitted. */
  readonly readOnly: boolean;

  constructor(options: VfsToolsSectionOptions) {
    checkKnownKeys(options, "VfsToolsSection", keys, PromptValidationError);
    const filesystem = checkFilesystem(options.filesystem);
    const { key = "files", readOnly = filesystem.readOnly } = options;
    const writing = readOnly ? [] : createVfsWriteTools(filesystem);
    const tools = [...createVfsReadTools(filesystem), ...writing];
    super({ key, title: "Files", template: guidance, tools });
    this.filesystem = filesystem;
    this.readOnly = readOnly;
  }

  /** Returns a section with the same tools on the same files, with some options changed. */
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
    remedy: 'use new HostFilesystem("workspace") or new InMemoryFilesystem()',
  });
}
