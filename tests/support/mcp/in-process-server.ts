import { Client, InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { McpToolsSection } from "../../../src/mcp/mcp-tools-section.ts";
import type { McpToolsSectionOptions } from "../../../src/mcp/mcp-tools-section-options.ts";
import type { PrepareContext } from "../../../src/prompt/section.ts";
import { Session } from "../../../src/session/session.ts";
import { recordingBus } from "../../../src/testing/recording-bus.ts";
import type { ToolContext } from "../../../src/tools/tool-context.ts";
import type { ToolResult } from "../../../src/tools/tool-result.ts";
import { createAnswers, type ServerBehavior } from "./server-answers.ts";

/**
 * Connects a client to a server in this process. `change` gives it another behavior and notifies the client;
 * `received` has the methods of its messages.
 */
export async function connectInProcess(behavior: ServerBehavior = {}) {
  const received: string[] = [];
  const [transport, server] = InMemoryTransport.createLinkedPair();
  const send = (message: object) => server.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const notify = (method: string, params: object = {}) => send({ method, params });
  const create = (next: ServerBehavior) =>
    createAnswers(next, {
      notify: (method, params) => void notify(method, params),
      crash: () => void server.close(),
      writeRaw: () => {},
      startHelper: () => 0,
      readEnvironment: () => ({}),
    });
  let answers = create(behavior);
  server.onmessage = (message) => {
    if ("method" in message) received.push(message.method);
    const answer = answers(message as Parameters<typeof answers>[0]);
    if (answer !== null) void send(answer);
  };
  const change = (next: ServerBehavior) => {
    answers = create(next);
    return notify("notifications/tools/list_changed");
  };
  const client = new Client({ name: "tests", version: "1.0.0" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, change, notify, received };
}

/** Creates the context of an evaluation. */
export function createContext(): PrepareContext {
  return { session: new Session({ bus: recordingBus() }), signal: new AbortController().signal };
}

/** Prepares a section on a server in this process. */
export async function prepareSection(
  behavior: ServerBehavior = {},
  options: Partial<McpToolsSectionOptions> = {},
) {
  const server = await connectInProcess(behavior);
  const { client } = server;
  const section = new McpToolsSection({ server: { client }, ...options });
  const context = createContext();
  await section.prepare(context);
  const run = async (name: string, params: object = {}): Promise<ToolResult<unknown>> => {
    const tool = section.tools().find((one) => one.name === name);
    const handler = tool?.handler ?? (() => Promise.reject(new Error(`There is no ${name}.`)));
    return await handler(params, { signal: context.signal } as ToolContext);
  };
  const names = () => section.tools().map(({ name }) => name);
  return { ...server, section, context, run, names };
}
