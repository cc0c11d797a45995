import type { Example } from "./list-examples.ts";

/** A heading of the index, and the examples below it. */
export interface ExampleGroup {
  readonly title: string;
  readonly examples: readonly Example[];
}

/** The headings of the index and the names below them, in reading order. `*` at the end matches any text. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "First steps": ["first-agent", "first-tool", "first-*", "command-line"],
  "Prompts, tools and state": [
    "prompts*",
    "progressive-disclosure",
    "overrides",
    "tools*",
    "hosted-tools*",
    "hybrid-tools",
    "own-hosted-tool",
    "mcp",
    "structured-output*",
    "citations*",
    "sessions*",
    "rollback*",
    "policies*",
  ],
  "Files and containers": ["workspaces*", "code-review", "long-analysis", "openai-files"],
  "Chats and streams": ["chat", "streaming", "chat-*", "long-turns", "background"],
  "Runs that survive a crash": ["after-a-crash", "agent-loop", "fleet"],
  "Asking a person": ["asking-a-person", "approval-page"],
  "Limits, safety and tests": [
    "inspector",
    "budgets*",
    "costs",
    "egress",
    "errors*",
    "untrusted-text",
    "security*",
    "sandboxes",
    "testing*",
    "record-and-replay",
    "performance*",
    "telemetry",
  ],
  "Providers and models": [
    "openai",
    "claude",
    "portable-review",
    "local-provider",
    "local-apis",
    "local-models",
    "own-provider",
    "edge*",
  ],
  Agents: ["agents/*"],
  "From other libraries and versions": ["migrate-from-*", "upgrade-to-*"],
};

/** Sorts the examples into the groups of the index. Throws for an example without a group. */
export function groupExamples(examples: readonly Example[]): readonly ExampleGroup[] {
  const left = new Set(examples);
  const groups = Object.entries(GROUPS).map(([title, names]) => ({
    title,
    examples: names.flatMap((name) => {
      const found = [...left].filter((example) => isNamed(example, name));
      for (const example of found) left.delete(example);
      return found;
    }),
  }));
  if (left.size > 0) {
    const paths = [...left].map(({ path }) => path).join(", ");
    throw new Error(`No group has ${paths}. Add it to scripts/examples/group-examples.ts.`);
  }
  return groups.filter((group) => group.examples.length > 0);
}

/** The name of an example in the index: its path without `examples/`, `/main.ts` or `.ts`. */
export function toExampleName({ path }: Example): string {
  return path.replace(/^examples\//, "").replace(/(?:\/main)?\.ts$/, "");
}

function isNamed(example: Example, name: string): boolean {
  const own = toExampleName(example);
  return name.endsWith("*") ? own.startsWith(name.slice(0, -1)) : own === name;
}
