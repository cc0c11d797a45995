import type { Clock } from "../base/clock.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/render.ts";
import type { Session } from "../session/session.ts";
import type { Scope } from "../session/session-lock.ts";
import type { OpenResources } from "../tools/open-resources.ts";
import type { Resources } from "../tools/resources.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { EventStamp } from "./events.ts";
import type { Guard } from "./guard.ts";
import { nestedAdapter } from "./nested-adapter.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";

/** What all calls of one evaluation share. */
export interface Evaluation {
  readonly prompt: Prompt;
  readonly rendered: RenderedPrompt;
  /** `rendered.tools` by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly adapter: ProviderAdapter;
  /** The provider's name, as events give it. */
  readonly adapterName: string;
  readonly session: Session;
  readonly resources: OpenResources;
  readonly guard: Guard;
  readonly clock: Clock;
}

/** Who, what and when, for an event of this evaluation. */
export function stampOf({
  session,
  prompt,
  adapterName,
  clock,
}: Pick<Evaluation, "session" | "prompt" | "adapterName" | "clock">): EventStamp {
  const createdAt = new Date(clock.now()).toISOString();
  return { sessionId: session.id, promptName: prompt.name, adapter: adapterName, createdAt };
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
