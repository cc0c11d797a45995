/** The features that the suite tries, in the order of the guide's table. */
export const FEATURES: readonly string[] = [
  "plain turn",
  "streaming",
  "function calls, several at once",
  "structured output",
  "custom tools",
  "code execution at the provider",
  "files of a container",
  "file search",
  "web search",
  "hosted shell",
  "apply_patch",
  "tool search",
  "image input",
  "file input",
  "continuing an earlier turn",
  "conversations",
  "background and cancel",
  "resumed stream",
  "uploads in parts",
  "WebSocket",
  "chat completions",
  "compaction",
  "token count",
  "list of models",
  "errors and retries",
];

/** A client that the suite runs, unmodified. */
export interface Client {
  /** The name in the guide: the package. Its version is in `package.json`. */
  readonly name: string;
  /** Why features have no test, by feature: sentences for the guide. */
  readonly missing: Readonly<Record<string, string>>;
}

const NOT_IN_CLIENT = "The client does not support it.";
const RUN_BY_CLIENT = "The client runs commands itself, as tool calls.";

function listMissing(reason: string, ...features: readonly string[]) {
  return Object.fromEntries(features.map((feature) => [feature, reason] as const));
}

const NOT_IN_ANTHROPICS_API = listMissing(
  "Anthropic's API does not have it.",
  "custom tools",
  "file search",
  "hosted shell",
  "apply_patch",
  "conversations",
  "background and cancel",
  "resumed stream",
  "uploads in parts",
  "WebSocket",
  "chat completions",
);

/** All clients, in the order of the guide's table. */
export const CLIENTS = [
  { name: "openai", missing: {} },
  {
    name: "@ai-sdk/openai",
    missing: listMissing(
      NOT_IN_CLIENT,
      "token count",
      "list of models",
      "files of a container",
      "background and cancel",
      "resumed stream",
      "uploads in parts",
      "WebSocket",
    ),
  },
  {
    name: "@openai/agents",
    missing: listMissing(
      NOT_IN_CLIENT,
      "token count",
      "list of models",
      "custom tools",
      "files of a container",
      "background and cancel",
      "resumed stream",
      "uploads in parts",
    ),
  },
  {
    name: "@langchain/openai",
    missing: listMissing(
      NOT_IN_CLIENT,
      "token count",
      "list of models",
      "files of a container",
      "apply_patch",
      "conversations",
      "background and cancel",
      "resumed stream",
      "uploads in parts",
      "WebSocket",
    ),
  },
  {
    name: "@openai/codex",
    missing: {
      apply_patch: "The client sends it as a custom tool.",
      "hosted shell": "The client runs commands itself, as functions.",
      ...listMissing(
        NOT_IN_CLIENT,
        "token count",
        "list of models",
        "code execution at the provider",
        "files of a container",
        "file search",
        "file input",
        "conversations",
        "background and cancel",
        "resumed stream",
        "uploads in parts",
        "chat completions",
      ),
    },
  },
  { name: "@anthropic-ai/sdk", missing: NOT_IN_ANTHROPICS_API },
  {
    name: "@anthropic-ai/claude-agent-sdk",
    missing: {
      ...NOT_IN_ANTHROPICS_API,
      ...listMissing(RUN_BY_CLIENT, "code execution at the provider", "files of a container"),
      "file input": "The client reads files itself, as tool calls.",
      compaction: "The client summarizes with an ordinary turn, only in long conversations.",
      ...listMissing(NOT_IN_CLIENT, "token count", "list of models"),
    },
  },
] as const satisfies readonly Client[];

/** The name of a client of the suite. */
export type ClientName = (typeof CLIENTS)[number]["name"];

/** Returns the client with this name. */
export function findClient(name: ClientName): Client {
  const found = CLIENTS.find((client) => client.name === name);
  if (!found) throw new Error(`There is no client "${name}" in clients.ts.`);
  return found;
}
