import { type AsyncContext, createAsyncContext } from "../base/call-fence.ts";
import { warn } from "../base/warn.ts";
import type {
  ObservedCall,
  ObservedEvaluation,
  ObservedTurn,
  ObservedWork,
} from "../session/observed-work.ts";
import { EvaluationTrace, type TracedEvent, type TraceSettings } from "./evaluation-trace.ts";
import type { Context, Span } from "./load-open-telemetry.ts";

/** Settings of {@link OpenTraces}. */
export interface TelemetrySettings extends TraceSettings {
  /** The only session whose evaluations are traced; `null` for all sessions of the bus. */
  readonly sessionId: string | null;
}

/**
 * The traces of the evaluations that run now. Observing their work connects each event with its evaluation: nested and
 * parallel evaluations publish on the same bus.
 */
export class OpenTraces {
  readonly #settings: TelemetrySettings;
  /** Key of the evaluation in the active context. */
  readonly #key: symbol;
  /** Replaces the active context in programs that have registered no context manager. */
  readonly #active: AsyncContext<Context> = createAsyncContext();
  readonly #open = new Set<EvaluationTrace>();

  constructor(settings: TelemetrySettings) {
    this.#settings = settings;
    this.#key = settings.api.createContextKey("weakincentives.evaluation");
  }

  /** Runs a piece of work in the context of its span. A failure of the telemetry is only a warning. */
  observe<Result>(work: ObservedWork, run: () => Promise<Result>): Promise<Result> {
    const { sessionId } = this.#settings;
    if (sessionId !== null && work.sessionId !== sessionId) return run();
    switch (work.type) {
      case "evaluation":
        return this.#observeEvaluation(work, run);
      case "turn":
        return this.#observeTurn(work, run);
      case "call":
        return this.#observeCall(work, run);
    }
  }

  /** Adds an event to the trace of its evaluation. */
  record(event: TracedEvent): void {
    this.#find(event.sessionId)?.record(event);
  }

  /** Ends all open spans. */
  close(): void {
    for (const open of this.#open) attempt(() => open.end({ outcome: "unfinished" }));
    this.#open.clear();
  }

  async #observeEvaluation<Result>(
    work: ObservedEvaluation,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const opened = attempt(() => new EvaluationTrace(work, this.#settings, this.#getContext()));
    if (!opened) return await run();
    this.#open.add(opened);
    const { api } = this.#settings;
    try {
      const inner = this.#getContext().setValue(this.#key, opened);
      const result = await this.#runWithin(api.trace.setSpan(inner, opened.span), run);
      attempt(() => opened.end({ outcome: "completed" }));
      return result;
    } catch (error) {
      attempt(() => opened.end({ outcome: "failed", error }));
      throw error;
    } finally {
      this.#open.delete(opened);
    }
  }

  #observeTurn<Result>(work: ObservedTurn, run: () => Promise<Result>): Promise<Result> {
    const found = this.#find(work.sessionId);
    const turn = found && attempt(() => found.startTurn(work));
    if (!turn) return run();
    const running = this.#runWithin(this.#createContext(turn.span), run);
    // `TurnCompleted` ends the span of a request that is answered.
    running.catch((error: unknown) => attempt(() => found.failTurn(turn, error)));
    return running;
  }

  #observeCall<Result>(work: ObservedCall, run: () => Promise<Result>): Promise<Result> {
    const found = this.#find(work.sessionId);
    const call = found && attempt(() => found.startCall(work));
    if (!call) return run();
    const running = this.#runWithin(this.#createContext(call.span), run);
    const onReturned = () => call.onReturned(); // `ToolInvoked` ends the span
    running.then(onReturned, onReturned);
    return running;
  }

  /** Runs work in a context. A second async context is entered only if it is needed, because each costs time. */
  #runWithin<Result>(inner: Context, run: () => Promise<Result>): Promise<Result> {
    const { context } = this.#settings.api;
    return context.with(inner, () =>
      context.active() === inner ? run() : this.#active.run(inner, run),
    );
  }

  /** Returns the active context with another span. */
  #createContext(span: Span): Context {
    return this.#settings.api.trace.setSpan(this.#getContext(), span);
  }

  /** Returns the active context: the caller's, or that of the work which the current code belongs to. */
  #getContext(): Context {
    const { context, ROOT_CONTEXT } = this.#settings.api;
    const active = context.active();
    return active === ROOT_CONTEXT ? (this.#active.current() ?? active) : active;
  }

  /** Finds the evaluation that the current code belongs to, or else the session's latest. */
  #find(sessionId: string): EvaluationTrace | null {
    const current = this.#getContext().getValue(this.#key);
    if (current instanceof EvaluationTrace && current.sessionId === sessionId) {
      if (this.#open.has(current)) return current;
    }
    return [...this.#open].findLast((open) => open.sessionId === sessionId) ?? null;
  }
}

/** Runs a part of the telemetry. Its failure must not become a failure of the evaluation. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    warn("Telemetry of an evaluation failed", error);
    return null;
  }
}
