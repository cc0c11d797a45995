import type { WireItem } from "../../openai/wire.ts";

/** What the Claude Agent SDK puts before the names of the tools that weakincentives bridges. */
const BRIDGE = "mcp__wink__";

/** A tool's name as the agent's author knows it. */
export function ownName(name: string): string {
  return name.startsWith(BRIDGE) ? name.slice(BRIDGE.length) : name;
}

/**
 * The name that a request offers a tool by: its own, or that of a bridge to it. What is not offered is
 * called all the same, by the name that it would have: models make names up.
 */
export function offeredName(tools: readonly WireItem[], name: string): string {
  const names = tools.flatMap((tool) => (typeof tool["name"] === "string" ? [tool["name"]] : []));
  if (names.includes(name)) return name;
  const bridged = names.find((one) => BRIDGED.exec(one)?.[1] === name);
  if (bridged !== undefined) return bridged;
  return names.some((one) => one.startsWith(BRIDGE)) ? BRIDGE + name : name;
}

/** `mcp__server__tool`, and names of tools may have underscores of their own. */
const BRIDGED = /^mcp__(?:(?!__).)+__(.+)$/s;
