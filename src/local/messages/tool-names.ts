import type { WireItem } from "../../openai/wire.ts";

/** The prefix that the Claude Agent SDK adds to the names of tools that weakincentives bridges. */
const BRIDGE_PREFIX = "mcp__wink__";

/** Returns whether weakincentives bridges a tool to the Claude Agent SDK. */
export function isBridged(name: string): boolean {
  return name.startsWith(BRIDGE_PREFIX);
}

/** Returns a tool's name without the bridge prefix, as the agent's author wrote it. */
export function removeBridgePrefix(name: string): string {
  return isBridged(name) ? name.slice(BRIDGE_PREFIX.length) : name;
}

/**
 * Returns the name by which a request offers a tool: its own name or its bridged name. For a tool
 * that is not offered, returns the name that it would have, because models make names up.
 */
export function findOfferedToolName(tools: readonly WireItem[], name: string): string {
  const names = tools.flatMap((tool) => (typeof tool["name"] === "string" ? [tool["name"]] : []));
  if (names.includes(name)) return name;
  const bridged = names.find((one) => BRIDGED_NAME.exec(one)?.[1] === name);
  if (bridged !== undefined) return bridged;
  return names.some(isBridged) ? BRIDGE_PREFIX + name : name;
}

/** Returns the name by which the client offers a tool or can load it. */
export function findToolName(
  name: string,
  { tools, deferredTools }: Readonly<Record<"tools" | "deferredTools", readonly WireItem[]>>,
): string {
  return findOfferedToolName([...tools, ...deferredTools], name);
}

/** Matches `mcp__server__tool`. Tool names may contain underscores. */
const BRIDGED_NAME = /^mcp__(?:(?!__).)+__(.+)$/s;
