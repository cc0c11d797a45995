import { checkToolName } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { quoteNames } from "../base/quote-value.ts";
import { callRecord } from "./call-record.ts";
import type { ToolPolicy } from "./policy.ts";

/** Options of {@link sequentialDependency}. */
export interface SequentialDependencyOptions {
  /** Name of the tool that must wait. */
  readonly tool: string;
  /** Names of the tools that must all have succeeded in the session first. */
  readonly after: readonly string[];
}

const keys: KnownKeys<SequentialDependencyOptions> = { after: true, tool: true };

/**
 * Returns a policy that allows `tool` only after the others have succeeded in the session. All of
 * them must be tools of the template, and `tool` must not be hosted: the provider runs hosted tools
 * before a policy could stop them.
 *
 * @example
 * ```ts
 * import { sequentialDependency, Tool, ToolResult } from "weakincentives";
 * import * as z from "zod";
 *
 * const deploy = new Tool({
 *   name: "deploy",
 *   description: "Deploys the release.",
 *   params: z.object({}),
 *   policies: [sequentialDependency({ tool: "deploy", after: ["run_tests"] })],
 *   handler: () => ToolResult.ok("deployed"),
 * });
 * ```
 */
export function sequentialDependency(options: SequentialDependencyOptions): ToolPolicy {
  checkKnownKeys(options, "sequentialDependency(options)", keys, PromptValidationError);
  const { tool, after } = options;
  checkToolName(tool, "sequentialDependency(tool)");
  const required = checkAfter(tool, after);
  return Object.freeze({
    name: `${tool} after ${required.join(", ")}`,
    guards: Object.freeze([tool]),
    requires: Object.freeze(required),
    check: ({ tool: called }, { session }) => {
      if (called !== tool) return null;
      const { tools } = session.get(callRecord);
      const missing = required.filter((name) => !tools.includes(name));
      return missing.length === 0 ? null : `Call ${quoteNames(missing)} first, then "${tool}".`;
    },
  } satisfies ToolPolicy);
}

function checkAfter(tool: string, after: readonly string[]): readonly string[] {
  const isList = Array.isArray(after) && after.length > 0 && !after.includes(tool);
  if (isList)
    return after.map((name, at) => checkToolName(name, `sequentialDependency(after)[${at}]`));
  throw new PromptValidationError({
    field: "sequentialDependency(after)",
    value: after,
    rule: "must be a non-empty array of other tools' names",
    remedy: `list the tools that must succeed before "${tool}"`,
  });
}
