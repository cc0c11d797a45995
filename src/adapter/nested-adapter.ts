import type { Scope } from "../session/session-lock.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";

/** Under which an evaluation says whose handler started it. Adapters pass it on with the rest. */
export const within = Symbol("within");

export interface NestedOptions extends EvaluateOptions {
  readonly [within]?: Scope | undefined;
}

/** The adapter for a handler to use where the runtime cannot tell what is nested in what. */
export function nestedAdapter(adapter: ProviderAdapter, scope: Scope): ProviderAdapter {
  return {
    name: adapter.name,
    evaluate: (prompt, options) => {
      const nested: NestedOptions = { ...options, [within]: scope };
      return adapter.evaluate(prompt, nested);
    },
  };
}
