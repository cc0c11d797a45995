/** The parts of a prompt that accept overrides, with their current hashes. */
export interface PromptDescriptor {
  /** Namespace of the template. */
  readonly ns: string;
  /** Key of the template. */
  readonly key: string;
  /** Sections that accept overrides. */
  readonly sections: readonly SectionDescriptor[];
  /** Tools that accept overrides. */
  readonly tools: readonly ToolDescriptor[];
}

/** A section that accepts overrides. */
export interface SectionDescriptor {
  /** Keys from the root, joined by dots. */
  readonly path: string;
  /** Number of the section, such as `"2.1"`. */
  readonly number: string;
  /** SHA-256 of the template text. */
  readonly contentHash: string;
}

/** A tool that accepts overrides. */
export interface ToolDescriptor {
  /** Path of the tool's section. */
  readonly path: string;
  /** Name of the tool. */
  readonly name: string;
  /** SHA-256 of the description and both schemas. */
  readonly contractHash: string;
}
