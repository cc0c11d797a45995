import { CostMeter } from "../base/costs/cost-meter.ts";
import type { PartialResponse } from "../base/evaluation-errors.ts";
import type { Logger } from "../base/logger.ts";
import { addUsage, noUsage, type TokenUsage } from "../base/usage.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { WorkspaceManifest } from "../prompt/sections/workspace-slice.ts";
import { visibilitySlice } from "../prompt/visibility.ts";
import type { Scope } from "../session/session-lock.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { OpenResources } from "../tools/open-resources.ts";
import type { Resources } from "../tools/resources.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { ApprovalRequest } from "./approvals/approval-request.ts";
import type { ApprovalSettings } from "./approvals/decide-approval.ts";
import type { SettledCall } from "./calls/combine-outputs.ts";
import type { EventPublisher } from "./events.ts";
import type { Guard } from "./guard.ts";
import type { HostedCall, ToolChoice, Turn } from "./model-client.ts";
import { createNestedAdapter } from "./nested-adapter.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";
import type { BarrierListener, onBarrier } from "./resume/barrier.ts";
import { standingSlice } from "./resume/standing.ts";
import { selectAllowedTools } from "./tool-choice.ts";

/** Sections that may have changed since they were prepared. */
export interface StaleSections {
  /** Whether a prepared section has changed since. */
  readonly isStale: boolean;
  /** Prepares the sections that are not prepared, or have changed since. */
  prepare(): Promise<void>;
}

/** State that all calls in an evaluation share. */
export interface Evaluation extends EventPublisher {
  readonly prompt: Prompt;
  readonly rendered: RenderedPrompt;
  /** The tools of `rendered` by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly adapter: ProviderAdapter;
  readonly resources: OpenResources;
  readonly guard: Guard;
  readonly costs: CostMeter;
  readonly logger: Logger;
  /** The sections that were prepared before the prompt was rendered; `null` if none needs it. */
  readonly sections: StaleSections | null;
  /** The session's visibility state when the prompt was rendered. */
  readonly visibility: object | undefined;
  /** Whether a tool handler started the evaluation. */
  readonly isNested: boolean;
  /** Whether each step is stored before its effects: in stored sessions, unless it is nested. */
  readonly isDurable: boolean;
  /** How calls that need approval are decided. */
  readonly approval: Pick<ApprovalSettings, "approve" | "approvals">;
  /** Calls of the turn that wait for approval, so that the evaluation stops after the turn's other calls. */
  readonly parked: ApprovalRequest[];
  /** Makes the keys of calls unique in a session that is not stored. */
  readonly callKeys: UnstoredKeys;
  /** Keys of calls that were decided about and that the model may make again. */
  readonly usedApprovals: Set<string>;
  /** Keeps the files of the prompt's workspace; `null` if there are none, or none have changed. */
  keepFiles(): Promise<WorkspaceManifest | null>;
  /** Called at each barrier. */
  readonly [onBarrier]?: BarrierListener | undefined;
}

/** Returns the session's visibility state for a prompt, which is a new object after each change. */
export function readVisibility({
  session,
  prompt,
}: Pick<Evaluation, "session" | "prompt">): object | undefined {
  return session.get(visibilitySlice)[prompt.name];
}

/** Leaves out the local tools that a restriction excludes, so that calls to them do not run. */
export function toRenderedFields(
  rendered: RenderedPrompt,
  toolChoice: ToolChoice = "auto",
): Pick<Evaluation, "rendered" | "tools"> {
  const { tools } =
    typeof toolChoice === "object" ? selectAllowedTools(toolChoice, rendered) : rendered;
  return { rendered, tools: new Map(tools.map((tool) => [tool.name, tool])) };
}

/** Creates the context for a call's handler. A hosted call's hook and handler share one. */
export function createToolContext(
  evaluation: Evaluation,
  call: {
    /** @default the context is not for a call */
    readonly callId?: string | undefined;
    readonly resources: Resources;
    readonly scope: Scope;
    readonly providerOutput?: unknown;
  },
): ToolContext {
  const { prompt, rendered, adapter, session, guard } = evaluation;
  return Object.freeze({
    prompt,
    renderedPrompt: rendered,
    adapter: session.lock.detectsNesting
      ? adapter
      : createNestedAdapter(adapter, session, call.scope),
    session,
    bus: session.bus,
    resources: call.resources,
    filesystem: prompt.filesystem(),
    deadline: guard.deadline,
    budgetTracker: guard.tracker,
    signal: guard.signal,
    callKey: createCallKey(evaluation, call.callId ?? "feedback"),
    ...("providerOutput" in call ? { providerOutput: call.providerOutput } : {}),
  });
}

/** Returns the key of a call. In a stored session, it is the same in every process. */
function createCallKey({ session, isDurable, callKeys }: Evaluation, callId: string): string {
  const turn = isDurable ? session.get(standingSlice).turns : callKeys.createUnstored();
  return `${session.id}:${turn}:${callId}`;
}

/** Replaces the turn in the keys of calls if the session is not stored. Each call gets another value. */
export class UnstoredKeys {
  #evaluation: string | null = null;
  #calls = 0;

  createUnstored(): string {
    this.#evaluation ??= crypto.randomUUID();
    this.#calls += 1;
    return `${this.#evaluation}-${this.#calls}`;
  }
}

/** The part of a turn that {@link Progress} needs. */
type ProgressTurn = Pick<
  Turn,
  "text" | "usage" | "responseId" | "requestId" | "model" | "hostedCalls" | "citations"
>;

/**
 * Results that an evaluation has collected so far. The cost of a turn does not depend on earlier
 * turns.
 */
export class Progress {
  turns = 0;
  usage: TokenUsage = noUsage;
  /** The cost of the evaluation. Turns are added to it when they are answered. */
  readonly costs: CostMeter;
  /** The model's last text that was not empty. */
  text: string | null = null;
  responseId: string | null = null;
  model: string | null = null;
  readonly requestIds: string[] = [];
  readonly hostedCalls: HostedCall[] = [];
  /** Hosted calls after their hooks and handlers, in order. */
  readonly settledCalls: SettledCall[] = [];
  /** Whether a hook, a handler or a result schema replaced the output of a call. */
  hasReplacedOutputs = false;
  /** Whether the client did not see all turns. */
  isResumed = false;
  readonly #earlierCitations: Citation[] = [];
  #citations: readonly Citation[] = [];

  constructor(costs: CostMeter = new CostMeter()) {
    this.costs = costs;
  }

  add(turn: ProgressTurn): void {
    this.turns += 1;
    this.usage = addUsage(this.usage, turn.usage);
    if (turn.text !== "") this.text = turn.text;
    this.responseId = turn.responseId ?? this.responseId;
    this.model = turn.model ?? this.model;
    if (turn.requestId !== null) this.requestIds.push(turn.requestId);
    // No spread, because there may be very many calls.
    for (const call of turn.hostedCalls) this.hostedCalls.push(call);
    for (const citation of this.#citations) this.#earlierCitations.push(citation);
    this.#citations = turn.citations;
  }

  /** Adds a turn of an earlier process, and its cost. */
  addEarlier(turn: ProgressTurn & Pick<Turn, "costUsd">): void {
    this.add(turn);
    this.costs.addEarlier(turn);
  }

  /**
   * Continues an interrupted evaluation after its last stored turn; `null` if that is already added.
   * The totals include the whole evaluation.
   */
  resume(
    last: Turn | null,
    totals: Pick<Progress, "turns" | "usage"> & { readonly costUsd?: number | undefined },
  ): void {
    if (last) this.addEarlier(last);
    this.isResumed = true;
    this.turns = totals.turns;
    this.usage = totals.usage;
    if (totals.costUsd !== undefined) this.costs.raise(totals.costUsd);
  }

  /** Adds tokens that were used outside of turns. */
  addUsage(usage: TokenUsage): void {
    if (usage.totalTokens > 0) this.usage = addUsage(this.usage, usage);
  }

  /** Returns the cost so far, if it is known. */
  getCost(): { readonly costUsd?: number } {
    const { total } = this.costs;
    return total === null ? {} : { costUsd: total };
  }

  /** Replaces a provider's hosted call with the result of its hook or handler. */
  settleCall(call: HostedCall, settled: SettledCall): void {
    this.hostedCalls[this.hostedCalls.lastIndexOf(call)] = settled.call;
    this.settledCalls.push(settled);
    if (settled.call.output !== call.output) this.hasReplacedOutputs = true;
  }

  /** Adds a delegated call that was run locally. */
  addDelegated(settled: SettledCall): void {
    this.hostedCalls.push(settled.call);
    this.settledCalls.push(settled);
    if (settled.call.output !== settled.declared) this.hasReplacedOutputs = true;
  }

  /**
   * Returns all citations. Citations from earlier turns have no span, because spans refer to the
   * answer.
   */
  listCitations(): readonly Citation[] {
    const earlier = this.#earlierCitations.map((citation) => ({ ...citation, span: null }));
    return [...earlier, ...this.#citations];
  }

  toPartialResponse(): PartialResponse {
    const { text, usage, responseId, turns } = this;
    return Object.freeze({
      text,
      usage,
      ...this.getCost(),
      responseId,
      turns,
      hostedCalls: Object.freeze([...this.hostedCalls]),
    });
  }
}
