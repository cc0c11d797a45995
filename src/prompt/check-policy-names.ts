import { PromptValidationError } from "../base/errors.ts";
import { quoteNames } from "../base/quote-value.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";
import { runsAtProvider } from "../tools/as-hosted-tool.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import { RESERVED_NAMES, type SectionTools } from "./outline.ts";

/** Rejects policies that name tools they cannot guard or wait for. */
export function checkPolicyNames(
  sections: readonly SectionTools[],
  { name, policies }: { readonly name: string; readonly policies: readonly ToolPolicy[] },
): void {
  const known = listKnownTools(sections);
  for (const policy of policies) checkPolicy(policy, `Template "${name}" policy`, known);
  for (const { path, section, tools } of sections) {
    const field = `Template "${name}" section "${path}" policy`;
    const checked = tools.map((tool) => tool.name);
    for (const policy of section.policies) checkPolicy(policy, field, { ...known, checked });
    for (const tool of tools) {
      const ofTool = { ...known, checked: [tool.name] };
      const toolField = `Template "${name}" tool "${tool.name}" policy`;
      for (const policy of tool.policies) {
        const guards = runsAtProvider(tool) ? [tool.name] : policy.guards;
        checkPolicy({ ...policy, guards }, toolField, ofTool);
      }
    }
  }
}

interface KnownTools {
  readonly all: ReadonlySet<string>;
  readonly hosted: ReadonlySet<string>;
  /** Tools before whose calls the policy is checked. */
  readonly checked: readonly string[];
}

function listKnownTools(sections: readonly SectionTools[]): KnownTools {
  const tools = sections.flatMap((section) => section.tools);
  const hosted = [
    ...tools.filter(runsAtProvider),
    ...sections.flatMap(({ hostedTools }) => hostedTools),
  ].map(({ name }) => name);
  const checked = tools.map(({ name }) => name);
  return {
    all: new Set([...checked, ...hosted, ...RESERVED_NAMES]),
    hosted: new Set(hosted),
    checked,
  };
}

function checkPolicy(
  { name: value, guards = [], requires = [] }: Omit<ToolPolicy, "check">,
  field: string,
  { all, hosted, checked }: KnownTools,
): void {
  const refuse = (rule: string, remedy: string) =>
    new PromptValidationError({ field, value, rule, remedy });
  const unknown = [...guards, ...requires].find((name) => !all.has(name));
  if (unknown !== undefined) {
    const near = suggestSpelling(unknown, all);
    const remedy = near ? `did you mean "${near}"?` : `use one of ${quoteNames(all)}`;
    throw refuse(`must name tools of the template, not "${unknown}"`, remedy);
  }
  const atProvider = guards.find((name) => hosted.has(name));
  if (atProvider !== undefined) {
    const rule = `must not guard "${atProvider}", because no policy is checked before a hosted tool runs`;
    throw refuse(rule, "remove the policy, and limit the tool with its own config");
  }
  const unchecked = guards.find((name) => !checked.includes(name));
  if (unchecked === undefined) return;
  const rule = `must guard ${quoteNames(checked)}, because it is not checked for "${unchecked}"`;
  throw refuse(rule, `move the policy to "${unchecked}", to its section or to the template`);
}
