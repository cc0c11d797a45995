import type { WorkspaceSynced } from "../../adapter/container-replaced.ts";
import type { EgressReport } from "../../adapter/egress/egress-report.ts";
import type { PromptExecuted } from "../../adapter/events.ts";
import type { FinishReason, HostedCall } from "../../adapter/model-client.ts";
import { standingSlice } from "../../adapter/resume/standing.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { Session } from "../../session/session.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import type { AgentAnswer } from "./evaluate-agent.ts";

/** The document of `wink run --json`. Values that are not known are `null`. */
export interface RunDocument {
  readonly promptName: string | null;
  readonly sessionId: string;
  readonly model: string | null;
  readonly text: string | null;
  readonly output: unknown;
  readonly usage: TokenUsage | null;
  readonly costUsd: number | null;
  readonly finishReason: FinishReason | null;
  readonly turns: number | null;
  readonly hostedCalls: readonly HostedCallSummary[];
  readonly citations: readonly Citation[];
  readonly egress: EgressSummary | null;
  /** The files that workspaces have written to the host. */
  readonly synced: readonly SyncSummary[];
  readonly durationMs: number;
}

type HostedCallSummary = Pick<HostedCall, "name" | "kind" | "callId" | "success" | "message">;

/** The requests of a run to its provider. */
export interface EgressSummary {
  readonly verdict: EgressReport["verdict"];
  readonly requests: number;
  readonly bytes: number;
}

/** The files that a workspace has written to the host. */
export type SyncSummary = Pick<
  WorkspaceSynced,
  "directory" | "added" | "changed" | "deleted" | "failed" | "conflicts"
>;

/** Collects the events of a run that its document needs. */
export class RunRecord implements Disposable {
  readonly #startedAt = performance.now();
  readonly #session: Session;
  readonly #subscriptions: Disposable[];
  readonly #hostedCalls: HostedCall[] = [];
  readonly #synced: SyncSummary[] = [];
  #citations: readonly Citation[] = [];
  #executed: PromptExecuted | null = null;
  #egress: EgressReport | null = null;

  /** `withEgress` asks for the report of requests, which takes time. */
  constructor(session: Session, { withEgress }: { readonly withEgress: boolean }) {
    this.#session = session;
    const { bus } = session;
    this.#subscriptions = [
      bus.subscribe("TurnCompleted", ({ nested, hostedCalls, citations = [] }) => {
        if (nested) return;
        this.#hostedCalls.push(...hostedCalls);
        const earlier = this.#citations.map((citation) => ({ ...citation, span: null }));
        this.#citations = [...earlier, ...citations];
      }),
      bus.subscribe("PromptExecuted", (event) => {
        if (!event.nested) this.#executed = event;
      }),
      bus.subscribe("WorkspaceSynced", (event) => {
        const { directory, added, changed, deleted, failed, conflicts } = event;
        this.#synced.push({ directory, added, changed, deleted, failed, conflicts });
      }),
    ];
    if (!withEgress) return;
    const reports = bus.subscribe("EgressReported", ({ nested, egress }) => {
      if (!nested) this.#egress = egress;
    });
    this.#subscriptions.push(reports);
  }

  /** The files that workspaces have written to the host so far. */
  get synced(): readonly SyncSummary[] {
    return this.#synced;
  }

  /** Creates the document of a run that has its answer. */
  createDocument({ output, response }: AgentAnswer): RunDocument {
    const executed = this.#executed;
    const known = response ?? executed;
    const hostedCalls = response?.hostedCalls ?? this.#hostedCalls;
    const egress = response?.egress ?? this.#egress;
    return {
      promptName: known?.promptName ?? null,
      sessionId: this.#session.id,
      model: executed?.model ?? null,
      text: known?.text ?? null,
      output,
      usage: known?.usage ?? null,
      costUsd: known?.costUsd ?? null,
      finishReason: known?.finishReason ?? null,
      turns: executed?.turns ?? (this.#session.get(standingSlice).turns || null), // of a stored answer
      hostedCalls: hostedCalls.map(({ name, kind, callId, success, message }) => {
        return { name, kind, callId, success, message };
      }),
      citations: response?.citations ?? this.#citations,
      egress: egress && summarizeEgress(egress),
      synced: this.#synced,
      durationMs: Math.round(performance.now() - this.#startedAt),
    };
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}

function summarizeEgress({ verdict, requests }: EgressReport): EgressSummary {
  const bytes = requests.reduce((sum, request) => sum + request.bytes, 0);
  return { verdict, requests: requests.length, bytes };
}
