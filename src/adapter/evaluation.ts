import type { PartialResponse } from "../base/evaluation-errors.ts";
import type { Logger } from "../base/logger.ts";
import { addUsage, noUsage, type TokenUsage } from "../base/usage.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { visibilitySlice } from "../prompt/visibility.ts";
import type { Scope } from "../session/session-lock.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { OpenResources } from "../tools/open-resources.ts";
import type { Resources } from "../tools/resources.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { Announcer } from "./events.ts";
import type { Guard } from "./guard.ts";
import type { HostedCall, Turn } from "./model-client.ts";
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

/** What an evaluation has so far. It only grows: a turn costs the same however many came before. */
export class Progress {
  turns = 0;
  usage: TokenUsage = noUsage;
  #costUsd: number | undefined;
  /** The model's last words, whichever turn they came in. */
  text: string | null = null;
  responseId: string | null = null;
  model: string | null = null;
  readonly requestIds: string[] = [];
  readonly hostedCalls: HostedCall[] = [];
  /** What hooks and handlers made of outputs, by the tool's name: of its last call. */
  readonly replacedOutputs = new Map<string, unknown>();
  readonly #earlierCitations: Citation[] = [];
  #citations: readonly Citation[] = [];

  add(turn: Turn): void {
    this.turns += 1;
    this.usage = addUsage(this.usage, turn.usage);
    if (turn.costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + turn.costUsd;
    if (turn.text !== "") this.text = turn.text;
    this.responseId = turn.responseId ?? this.responseId;
    this.model = turn.model ?? this.model;
    if (turn.requestId !== null) this.requestIds.push(turn.requestId);
    for (const call of turn.hostedCalls) this.hostedCalls.push(call); // however many there are
    for (const citation of this.#citations) this.#earlierCitations.push(citation);
    this.#citations = turn.citations;
  }

  /** What all turns cost, where the provider says. */
  cost(): { readonly costUsd?: number } {
    return this.#costUsd === undefined ? {} : { costUsd: this.#costUsd };
  }

  /** A hosted call as its tool left it, in place of what the provider sent. */
  settle(call: HostedCall, settled: HostedCall): void {
    this.hostedCalls[this.hostedCalls.lastIndexOf(call)] = settled;
    if (settled.output === call.output) this.replacedOutputs.delete(call.name);
    else this.replacedOutputs.set(call.name, settled.output);
  }

  /** A hosted call that was run here. */
  perform(performed: HostedCall): void {
    this.hostedCalls.push(performed);
  }

  /** Those of earlier turns point into text that is not the answer: they have no span. */
  citations(): readonly Citation[] {
    const earlier = this.#earlierCitations.map((citation) => ({ ...citation, span: null }));
    return [...earlier, ...this.#citations];
  }

  partial(): PartialResponse {
    const { text, usage, responseId, turns } = this;
    return Object.freeze({
      text,
      usage,
      responseId,
      turns,
      hostedCalls: Object.freeze([...this.hostedCalls]),
    });
  }
}
