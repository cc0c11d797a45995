import { messageOf, PromptRenderError } from "../base/errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import type { JsonSchema } from "../base/schema.ts";
import { show } from "../base/show.ts";
import type { Session } from "../session/session.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { projectedTool } from "../tools/projected-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { Attachment } from "./attachment.ts";
import type { BoundParams } from "./bound-params.ts";
import { exampleLines } from "./example-lines.ts";
import type { Placed } from "./outline.ts";
import type { OutputContract } from "./structured-output.ts";
import type { PromptTemplate } from "./template.ts";

/** A prompt as a provider needs it: text, what may be called, and what must be answered. */
export interface RenderedPrompt<Output = unknown> {
  readonly promptName: string;
  readonly text: string;
  /** In reading order; native and provider tools are among them, and are not run here. */
  readonly tools: readonly Tool[];
  /** Everything the provider is to run, however it was declared. */
  readonly hostedTools: readonly HostedTool[];
  /** `hostedTools` as neutral envelopes; a view, never sent. */
  readonly nativeTools: readonly NativeToolEnvelope[];
  /** JSON Schema of the answer; `null` for text. */
  readonly outputSchema: JsonSchema | null;
  /** How the answer is read; `null` for text. */
  readonly output: OutputContract<Output> | null;
  readonly attachments: readonly Attachment[];
}

/** A hosted tool in no provider's words, as the specifications' envelope has it. */
export interface NativeToolEnvelope {
  readonly type: "built_in";
  readonly name: string;
  readonly kind: string;
  readonly config: object;
}

declare module "../tools/tool-context.ts" {
  interface ToolContext {
    readonly renderedPrompt: RenderedPrompt;
  }
}

/** Only `Prompt` calls this: it has the params, and a session for those sections that ask it. */
export function render<Output>(
  template: PromptTemplate<Output>,
  params: BoundParams,
  context: { readonly session: () => Session; readonly attachments: readonly Attachment[] },
): RenderedPrompt<Output> {
  const placed = enabledSections(template.outline, params, context.session);
  const tools = placed.flatMap(toolsOf);
  const hostedTools = placed.flatMap((place) => [
    ...attempt(place, "its hostedTools failed", () => place.section.hostedTools()),
    ...toolsOf(place).flatMap(projectedTool),
  ]);
  const nativeTools = hostedTools.map(({ name, kind, config }) => ({
    type: "built_in" as const,
    name,
    kind,
    config,
  }));
  return Object.freeze({
    promptName: template.name,
    text: placed.flatMap((place) => textOf(place, placed, params) ?? []).join("\n\n"),
    tools: Object.freeze(tools),
    hostedTools: Object.freeze(hostedTools),
    nativeTools: deepFreeze(nativeTools),
    outputSchema: template.output?.jsonSchema ?? null,
    output: template.output,
    attachments: context.attachments,
  });
}

/** A section that is disabled takes its children with it. */
function enabledSections(
  outline: readonly Placed[],
  params: BoundParams,
  session: () => Session,
): readonly Placed[] {
  const enabled = new Set<Placed>();
  for (const placed of outline) {
    if (placed.parent && !enabled.has(placed.parent)) continue;
    if (isEnabled(placed, params, session)) enabled.add(placed);
  }
  return [...enabled];
}

function isEnabled(placed: Placed, params: BoundParams, session: () => Session): boolean {
  const enabled = attempt(placed, "its enabled predicate failed", () =>
    placed.section.isEnabled(paramsOf(placed, params), session()),
  );
  if (typeof enabled === "boolean") return enabled;
  const problem = `its enabled predicate returned ${show(enabled)}: it must return true or false at once`;
  throw new PromptRenderError(placed.path, problem);
}

/** `null` for a section that says nothing and has nothing below it. */
function textOf(placed: Placed, all: readonly Placed[], params: BoundParams): string | null {
  const { section, depth, number, path } = placed;
  const body = attempt(placed, "its render failed", () =>
    section.render(paramsOf(placed, params), depth, number),
  );
  if (typeof body !== "string") {
    throw new PromptRenderError(path, `its render returned ${show(body)}: it must return text`);
  }
  const examples = attempt(placed, "the examples of its tools failed", () =>
    exampleLines(section.tools()),
  );
  const isParent = all.some(({ parent }) => parent === placed);
  if (body === "" && examples === "" && !isParent) return null;
  const heading = `${"#".repeat(depth + 2)} ${number}. ${section.title} (${path})`;
  return [heading, body, examples].filter((part) => part !== "").join("\n\n");
}

function toolsOf(placed: Placed): readonly Tool[] {
  return attempt(placed, "its tools failed", () => placed.section.tools());
}

/** Each section's params were validated by its own schema when they were bound. */
function paramsOf(placed: Placed, params: BoundParams): never {
  return (params.get(placed) ?? {}) as never;
}

function attempt<Result>({ path }: Placed, problem: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new PromptRenderError(path, `${problem}: ${messageOf(cause)}`, cause);
  }
}
