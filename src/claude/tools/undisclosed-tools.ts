import type { Prompt } from "../../prompt/prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { projectedTool } from "../../tools/projected-tool.ts";

/**
 * Lists the hosted tools of summarized sections, which the model may open later. The SDK's tools are
 * switched on when it starts, so these are on from the start, and each call is refused until its
 * section is open.
 */
export function undisclosedTools(
  { template }: Prompt,
  allowed: boolean | readonly string[] = true,
): readonly HostedTool[] {
  if (allowed === false) return [];
  return template.outline
    .filter(({ section }) => section.summary !== null)
    .flatMap((top) => template.outline.filter((one) => isBelow(one.path, top.path)))
    .flatMap(({ section }) => [...section.hostedTools(), ...section.tools().flatMap(projectedTool)])
    .filter(
      ({ name, kind }) => allowed === true || allowed.includes(name) || allowed.includes(kind),
    );
}

function isBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}.`);
}
