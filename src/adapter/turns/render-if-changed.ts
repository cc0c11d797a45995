import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { type Evaluation, readVisibility } from "../evaluation.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { ModelClient } from "../model-client.ts";
import { preparePrompt } from "../prepare-prompt.ts";
import { selectAllowedTools } from "../tool-choice.ts";

/**
 * Renders the prompt again if the visibility of a section changed, or what a prepared section offers. The
 * conversation continues.
 */
export async function renderIfChanged(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
): Promise<Evaluation> {
  const { guard, sections } = evaluation;
  const visibility = readVisibility(evaluation);
  if (visibility === evaluation.visibility && !sections?.isStale) return evaluation;
  guard.enter("render");
  await sections?.prepare();
  // The tool choice was checked at first. Its tools may be in sections that are closed now.
  const checked = { ...settings, toolChoice: "auto" } as const;
  const rendered = preparePrompt(evaluation.prompt, client, checked, evaluation);
  return { ...evaluation, ...toRenderedFields(rendered, settings), visibility };
}

/** Leaves out the local tools that a restriction excludes, so that calls to them do not run. */
export function toRenderedFields(
  rendered: RenderedPrompt,
  { toolChoice = "auto" }: LoopSettings,
): Pick<Evaluation, "rendered" | "tools"> {
  const { tools } =
    typeof toolChoice === "object" ? selectAllowedTools(toolChoice, rendered) : rendered;
  return { rendered, tools: new Map(tools.map((tool) => [tool.name, tool])) };
}
