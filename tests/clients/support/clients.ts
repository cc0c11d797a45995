/** The two APIs that the local provider serves. Each has its own table in the guide. */
export type Api = "openai" | "anthropic";

/** The features that the suite tries with the clients of each API, in the order of the guide's tables. */
export const FEATURES: Readonly<Record<Api, readonly string[]>> = {
  openai: [
    "plain turn",
    "streaming",
    "function calls, several at once",
    "structured output",
    "custom tools",
    "code interpreter",
    "files of a container",
    "file search",
    "web search",
    "hosted shell",
    "apply_patch",
    "tool search",
    "image input",
    "file input",
    "continuing a response",
    "conversations",
    "background and cancel",
    "resumed stream",
    "uploads in parts",
    "WebSocket",
    "chat completions",
    "compaction",
    "errors and retries",
  ],
  anthropic: [
    "plain turn",
    "streaming",
    "tool calls, several at once",
    "structured output",
    "code execution",
    "web search",
    "tool search",
    "image input",
    "continuing a conversation",
    "compaction",
    "token count",
    "list of models",
    "errors and retries",
  ],
};

/** A client that the suite runs, unmodified. */
export interface Client {
  /** The name in the guide: the package. Its version is in `package.json`. */
  readonly name: string;
  readonly api: Api;
  /** Why features have no test, by feature: sentences for the guide. */
  readonly missing: Readonly<Record<string, string>>;
}

const NOT_IN_CLIENT = "The client does not support it.";

function listMissing(reason: string, ...features: readonly string[]) {
  return Object.fromEntries(features.map((feature) => [feature, reason] as const));
}

/** All clients, in the order of the guide's tables. */
export const CLIENTS = [
  { name: "openai", api: "openai", missing: {} },
  {
    name: "@ai-sdk/openai",
    api: "openai",
    missing: listMissing(
      NOT_IN_CLIENT,
      "files of a container",
      "background and cancel",
      "resumed stream",
      "uploads in parts",
      "WebSocket",
    ),
  },
  {
    name: "@openai/agents",
    api: "openai",
    missing: listMissing(
      NOT_IN_CLIENT,
      "custom tools",
      "files of a container",
      "background and cancel",
      "resumed stream",
      "uploads in parts",
    ),
  },
  {
    name: "@langchain/openai",
    api: "openai",
    missing: listMissing(
      NOT_IN_CLIENT,
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
    api: "openai",
    missing: {
      apply_patch: "The client sends it as a custom tool.",
      "hosted shell": "The client runs commands itself, as functions.",
      ...listMissing(
        NOT_IN_CLIENT,
        "code interpreter",
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
  { name: "@anthropic-ai/sdk", api: "anthropic", missing: {} },
  {
    name: "@anthropic-ai/claude-agent-sdk",
    api: "anthropic",
    missing: {
      "code execution": "The client runs commands itself, as tool calls.",
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
