import { fileURLToPath } from "node:url";
import {
  type BusEvent,
  type EvaluateOptions,
  Prompt,
  PromptTemplate,
  type Section,
  Session,
} from "weakincentives";
import { type McpStdioServer, McpToolsSection } from "weakincentives/mcp";
import { recordingBus, type ScriptStep, scriptedClient } from "weakincentives/testing";
import type { ServerBehavior } from "./server-answers.ts";

const SERVER = fileURLToPath(new URL("./stdio-server.ts", import.meta.url));

/** A server in a child process with a given behavior. */
export function stdioServer(
  behavior: ServerBehavior = {},
  env: Readonly<Record<string, string>> = {},
): McpStdioServer {
  return { command: process.execPath, args: [SERVER, JSON.stringify(behavior)], env };
}

/** A section on a server in a child process. */
export function stdioSection(
  behavior: ServerBehavior = {},
  options: Partial<ConstructorParameters<typeof McpToolsSection>[0]> = {},
): McpToolsSection {
  return new McpToolsSection({ server: stdioServer(behavior), ...options });
}

/** A turn in which the model calls tools: `call("echo", { word: "a" })`. */
export function call(name: string, args: object = {}): ScriptStep {
  return { toolCalls: [{ name, arguments: args }] };
}

/** Evaluates a prompt with these sections. The model plays the script, then answers. */
export async function runMcp(
  sections: Section | readonly Section[],
  steps: readonly ScriptStep[] = [],
  options: Pick<EvaluateOptions, "signal" | "session" | "resume"> = {},
) {
  const all = [sections].flat();
  const prompt = new Prompt(new PromptTemplate({ ns: "tests", key: "mcp", sections: all }));
  const client = scriptedClient(...steps, { text: "Done." });
  const bus = recordingBus();
  const session = options.session ?? new Session({ bus });
  const response = await client.evaluate(prompt, { ...options, session });
  const results = bus.of("ToolInvoked").map(({ result }) => result);
  const offered = client.asked.map(({ rendered }) => rendered.tools.map(({ name }) => name));
  return { text: response.text, results, offered, asked: client.asked, bus };
}

/** The events of the MCP section. */
export function findMcpEvents(bus: { readonly events: readonly BusEvent[] }): readonly BusEvent[] {
  return bus.events.filter(({ type }) => type.startsWith("Mcp"));
}
