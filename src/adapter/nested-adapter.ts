import type { Session } from "../session/session.ts";
import type { Scope } from "../session/session-lock.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";
import { type BarrierListener, onBarrier } from "./resume/barrier.ts";
import { maxThrottleWaitMs } from "./throttle.ts";
import { type StreamFeed, streamFeed } from "./turn-observer.ts";

/**
 * Key of the option that holds the scope of the handler that started an evaluation. Adapters pass
 * it through.
 */
export const parentScope = Symbol("within");

/**
 * {@link EvaluateOptions} with the options that the library adds for itself. Every adapter of the library passes them
 * through, from `evaluate` and from `stream`.
 */
export interface NestedOptions extends EvaluateOptions {
  /** The scope of the handler that started the evaluation. */
  readonly [parentScope]?: Scope | undefined;
  /** Receives the parts of every response. */
  readonly [streamFeed]?: StreamFeed | undefined;
  /** Called at each barrier. */
  readonly [onBarrier]?: BarrierListener | undefined;
  /** The longest wait for a throttled request. */
  readonly [maxThrottleWaitMs]?: number | undefined;
}

/** Returns an adapter for a handler, on runtimes that cannot detect nested evaluations. */
export function createNestedAdapter(
  adapter: ProviderAdapter,
  session: Session,
  scope: Scope,
): ProviderAdapter {
  const addScope = (options: EvaluateOptions = {}): NestedOptions => {
    const isNested = options?.session === session; // other sessions have their own queues
    return isNested ? { ...options, [parentScope]: scope } : options;
  };
  const nested: ProviderAdapter = {
    name: adapter.name,
    evaluate: (prompt, options) => adapter.evaluate(prompt, addScope(options)),
  };
  if (!adapter.stream) return nested;
  const stream: NonNullable<ProviderAdapter["stream"]> = adapter.stream.bind(adapter);
  return { ...nested, stream: (prompt, options) => stream(prompt, addScope(options)) };
}
