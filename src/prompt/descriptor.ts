import { stableStringify } from "../base/json.ts";
import { sha256 } from "../base/sha256.ts";
import type { Tool } from "../tools/tool.ts";
import type { Placed } from "./outline.ts";

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

/** Describes whatever accepts overrides. */
export function describePrompt(
  { ns, key }: { readonly ns: string; readonly key: string },
  outline: readonly Placed[],
): PromptDescriptor {
  return Object.freeze({
    ns,
    key,
    sections: Object.freeze(outline.flatMap(describeSection)),
    tools: Object.freeze(
      outline.flatMap(({ section, path }) =>
        section
          .tools()
          .flatMap((tool) => (tool.acceptsOverrides ? [describeTool(tool, path)] : [])),
      ),
    ),
  });
}

function describeSection({ section, path, number }: Placed): readonly SectionDescriptor[] {
  const text = section.acceptsOverrides ? section.overridableText() : null;
  return text === null ? [] : [Object.freeze({ path, number, contentHash: sha256(text) })];
}

function describeTool(tool: Tool, path: string): ToolDescriptor {
  const result = tool.resultSchema && stableStringify(tool.resultSchema);
  const parts = [tool.description, stableStringify(tool.paramsSchema), String(result)];
  const contractHash = sha256(parts.map(sha256).join("::"));
  return Object.freeze({ path, name: tool.name, contractHash });
}
