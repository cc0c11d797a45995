import { stableStringify } from "../base/json.ts";
import { sha256 } from "../base/sha256.ts";
import type { Tool } from "../tools/tool.ts";
import type { PlacedSection } from "./outline.ts";
import type { PromptDescriptor, SectionDescriptor, ToolDescriptor } from "./prompt-descriptor.ts";

/** Describes the sections and tools that accept overrides. */
export function describePrompt(
  { ns, key }: { readonly ns: string; readonly key: string },
  outline: readonly PlacedSection[],
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

function describeSection({ section, path, number }: PlacedSection): readonly SectionDescriptor[] {
  const text = section.acceptsOverrides ? section.overridableText() : null;
  return text === null ? [] : [Object.freeze({ path, number, contentHash: sha256(text) })];
}

function describeTool(tool: Tool, path: string): ToolDescriptor {
  const result = tool.resultSchema && stableStringify(tool.resultSchema);
  const parts = [tool.description, stableStringify(tool.paramsSchema), String(result)];
  const contractHash = sha256(parts.map(sha256).join("::"));
  return Object.freeze({ path, name: tool.name, contractHash });
}
