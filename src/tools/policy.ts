import { PromptValidationError } from "../base/errors.ts";
import type { ToolContext } from "./tool-context.ts";

/**
 * A rule that is checked before a tool's handler runs. A policy cannot stop tools that the provider
 * runs: by the time the adapter sees the call, they have run.
 */
export interface ToolPolicy {
  /** Name shown with each denial. */
  readonly name: string;
  /**
   * Names of the tools that the policy denies calls to. The template rejects names that it does not
   * have, and hosted tools. @default not checked
   */
  readonly guards?: readonly string[] | undefined;
  /**
   * Names of the other tools whose calls the policy depends on. The template rejects names that it
   * does not have. @default not checked
   */
  readonly requires?: readonly string[] | undefined;
  /**
   * Returns why the call may not run now, for the model to read, or `null` to allow it. Throwing
   * denies the call.
   */
  check(call: PolicyCall, context: ToolContext): string | null | Promise<string | null>;
}

/** A tool call that a policy checks. */
export interface PolicyCall {
  /** Name of the tool. */
  readonly tool: string;
  /** Validated params of the call. */
  readonly params: unknown;
}

/** Returns the reason of the first policy that denies the call, or `null` if all allow it. */
export async function findDenial(
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

/** Returns a frozen copy of `policies` if every entry is a policy. */
export function checkPolicies(
  policies: readonly ToolPolicy[] | undefined,
  field: string,
): readonly ToolPolicy[] {
  const all: unknown = policies ?? [];
  if (Array.isArray(all) && all.every(isPolicy)) return Object.freeze([...all]);
  throw new PromptValidationError({
    field,
    value: policies,
    rule: "must be an array of policies",
    remedy: "use sequentialDependency(…), readBeforeWrite() or { name, check(call, context) }",
  });
}

function isPolicy(value: unknown): value is ToolPolicy {
  if (typeof value !== "object" || value === null) return false;
  const { name, check, guards = [], requires = [] } = value as Partial<ToolPolicy>;
  const isNamed = typeof name === "string" && name !== "" && typeof check === "function";
  return isNamed && [guards, requires].every(isNameList);
}

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
