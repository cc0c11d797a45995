import type { Session } from "../session/session.ts";
import type { Scope } from "../session/session-lock.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";

/** Under which an evaluation says whose handler started it. Adapters pass it on with the rest. */
export const within = Symbol("within");

export interface NestedOptions extends EvaluateOptions {
  readonly [within]?: Scope | undefined;
}

/** The adapter for a handler to use where the runtime cannot tell what is nested in what. */
export function nestedAdapter(
  adapter: ProviderAdapter,
  session: Session,
  scope: Scope,
): ProviderAdapter {
  return {
    name: adapter.name,
    evaluate: (prompt, options) => {
      const isNested = options?.session === session; // another session has a queue of its own
      const nested: NestedOptions = isNested ? { ...options, [within]: scope } : options;
      return adapter.evaluate(prompt, nested);
    },
  };
}
