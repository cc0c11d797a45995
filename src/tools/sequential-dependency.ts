import { PromptValidationError } from "../base/errors.ts";
import { checkToolName } from "../base/names.ts";
import { list } from "../base/show.ts";
import { callRecord } from "./call-record.ts";
import type { ToolPolicy } from "./policy.ts";

/** What comes after what. */
export interface SequentialDependencyOptions {
  readonly tool: string;
  /** All of these must have succeeded in the session first. */
  readonly after: readonly string[];
}

/** A policy that lets `tool` run only after others have succeeded. */
export function sequentialDependency({ tool, after }: SequentialDependencyOptions): ToolPolicy {
  checkToolName(tool, "sequentialDependency(tool)");
  const needed = checkAfter(tool, after);
  return Object.freeze({
    name: `${tool} after ${needed.join(", ")}`,
    check: ({ tool: called }, { session }) => {
      if (called !== tool) return null;
      const { tools } = session.get(callRecord);
      const missing = needed.filter((name) => !tools.includes(name));
      return missing.length === 0 ? null : `Call ${list(missing)} first, then "${tool}".`;
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
    rule: "must be a list of other tools' names",
    remedy: `name what must have succeeded before "${tool}"`,
  });
}
