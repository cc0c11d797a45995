/** What of a prompt can be overridden, and what it is now, by hash. */
export interface PromptDescriptor {
  readonly ns: string;
  readonly key: string;
  readonly sections: readonly SectionDescriptor[];
  readonly tools: readonly ToolDescriptor[];
}

/** A section's text. */
export interface SectionDescriptor {
  readonly path: string;
  readonly number: string;
  /** SHA-256 of the template as it was written. */
  readonly contentHash: string;
}

/** A tool's description and params. */
export interface ToolDescriptor {
  /** Of the section that has it. */
  readonly path: string;
  readonly name: string;
  /** SHA-256 over the description and both schemas. */
  readonly contractHash: string;
}
