import type { Session } from "../session/session.ts";
import type { Scope } from "../session/session-lock.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";

/**
 * Key of the option that holds the scope of the handler that started an evaluation. Adapters pass
 * it through.
 */
export const parentScope = Symbol("within");

/** {@link EvaluateOptions} with the scope of the handler that started the evaluation. */
export interface NestedOptions extends EvaluateOptions {
  readonly [parentScope]?: Scope | undefined;
}

/** Returns an adapter for a handler, on runtimes that cannot detect nested evaluations. */
export function createNestedAdapter(
  adapter: ProviderAdapter,
  session: Session,
  scope: Scope,
): ProviderAdapter {
  return {
    name: adapter.name,
    evaluate: (prompt, options) => {
      const isNested = options?.session === session; // other sessions have their own queues
      const nested: NestedOptions = isNested ? { ...options, [parentScope]: scope } : options;
      return adapter.evaluate(prompt, nested);
    },
  };
}
