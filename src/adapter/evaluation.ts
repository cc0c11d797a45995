import type { Logger } from "../base/logger.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { visibilitySlice } from "../prompt/visibility.ts";
import type { Scope } from "../session/session-lock.ts";
import type { OpenResources } from "../tools/open-resources.ts";
import type { Resources } from "../tools/resources.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { Announcer } from "./events.ts";
import type { Guard } from "./guard.ts";
import { nestedAdapter } from "./nested-adapter.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";

/** What all calls of one evaluation share. */
export interface Evaluation extends Announcer {
  readonly prompt: Prompt;
  readonly rendered: RenderedPrompt;
  /** `rendered.tools` by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly adapter: ProviderAdapter;
  readonly resources: OpenResources;
  readonly guard: Guard;
  readonly logger: Logger;
  /** What the session said of visibility when the prompt was rendered. */
  readonly visibility: object | undefined;
  /** A handler started it. */
  readonly isNested: boolean;
}

/** What the session says of visibility: another object whenever that has changed. */
export function visibilityNow({
  session,
  prompt,
}: Pick<Evaluation, "session" | "prompt">): object | undefined {
  return session.get(visibilitySlice)[prompt.name];
}

/** What one call's handler gets; a hosted call's hook and handler get the same one. */
export function contextOf(
  evaluation: Evaluation,
  call: { readonly resources: Resources; readonly scope: Scope; readonly providerOutput?: unknown },
): ToolContext {
  const { prompt, rendered, adapter, session, guard } = evaluation;
  return Object.freeze({
    prompt,
    renderedPrompt: rendered,
    adapter: session.lock.tellsNested ? adapter : nestedAdapter(adapter, session, call.scope),
    session,
    bus: session.bus,
    resources: call.resources,
    filesystem: prompt.filesystem(),
    deadline: guard.deadline,
    budgetTracker: guard.tracker,
    signal: guard.signal,
    ...("providerOutput" in call ? { providerOutput: call.providerOutput } : {}),
  });
}
