import { PromptValidationError } from "../base/errors.ts";
import type { ToolContext } from "./tool-context.ts";

/**
 * A rule that calls must keep, whatever path the model takes. It is asked before a handler runs;
 * what the provider runs has run by then, and no policy can stop it.
 */
export interface ToolPolicy {
  readonly name: string;
  /** Why the call may not run now, for the model to read; `null` if it may. A throw denies. */
  check(call: PolicyCall, context: ToolContext): string | null | Promise<string | null>;
}

/** A call that a policy is asked about. */
export interface PolicyCall {
  readonly tool: string;
  /** Validated. */
  readonly params: unknown;
}

/** The first reason any of them has; `null` if all allow the call. */
export async function deniedBy(
  policies: readonly ToolPolicy[],
  call: PolicyCall,
  context: ToolContext,
): Promise<string | null> {
  for (const policy of policies) {
    const reason = await policy.check(call, context);
    if (reason !== null) return `${reason} (policy "${policy.name}")`;
  }
  return null;
}

/** Returns a frozen copy of the list if all of it are policies. */
export function checkPolicies(
  policies: readonly ToolPolicy[] | undefined,
  field: string,
): readonly ToolPolicy[] {
  const all: unknown = policies ?? [];
  if (Array.isArray(all) && all.every(isPolicy)) return Object.freeze([...all]);
  throw new PromptValidationError({
    field,
    value: policies,
    rule: "must be a list of policies",
    remedy: "use sequentialDependency(…), readBeforeWrite() or { name, check(call, context) }",
  });
}

function isPolicy(value: unknown): value is ToolPolicy {
  if (typeof value !== "object" || value === null) return false;
  const { name, check } = value as Partial<ToolPolicy>;
  return typeof name === "string" && name !== "" && typeof check === "function";
}
