import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readString, type UnknownRecord } from "../../base/json.ts";
import type { Tool } from "../../tools/tool.ts";

/** The SDK's call to a tool of the prompt. */
export interface BridgedCall {
  /** The id of the model's `tool_use`. */
  readonly callId: string;
  readonly name: string;
}

/** The result of a bridged call, as the model reads it. */
export interface BridgedAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** The SDK's connection to an in-process server. */
interface Transport {
  onmessage?: ((message: unknown) => void) | undefined;
  start?(): Promise<void>;
  send(message: object): Promise<void>;
}

/** The server's name, which is part of the model's names for tools: `mcp__wink__add`. */
export const SERVER_NAME = "wink";

/** Returns the model's name for a tool of the prompt. */
export function toBridgedName(name: string): string {
  return `mcp__${SERVER_NAME}__${name}`;
}

/** Removes the server's prefix from a tool name; `null` for native and unknown tools. */
export function toToolName(name: string): string | null {
  const prefix = toBridgedName("");
  return name.startsWith(prefix) ? name.slice(prefix.length) : null;
}

/**
 * Offers the prompt's tools to the SDK as an in-process Model Context Protocol server. It does not
 * validate arguments, because the adapter validates all tool calls.
 */
export class ToolBridge {
  readonly #runCall: (call: BridgedCall) => Promise<BridgedAnswer>;
  #tools: readonly Tool[] = [];
  #transport: Transport | null = null;
  #onListed: (() => void) | null = null;

  constructor(run: (call: BridgedCall) => Promise<BridgedAnswer>) {
    this.#runCall = run;
  }

  /** The SDK's option `mcpServers`. */
  get servers(): UnknownRecord {
    const instance = {
      connect: (transport: Transport) => this.#connect(transport),
      close: async () => {},
    };
    return { [SERVER_NAME]: { type: "sdk", name: SERVER_NAME, instance } };
  }

  /** Sets the tools. If the SDK is connected, waits until it has listed them. */
  async offer(tools: readonly Tool[]): Promise<void> {
    const before = this.#tools;
    this.#tools = tools;
    if (!this.#transport || listSameTools(tools, before)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onListed = resolve;
    const change = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    if (await trySend(this.#transport, change)) await promise;
  }

  /** Releases a waiting `offer()` after the SDK has ended. */
  close(): void {
    this.#transport = null;
    this.#onListed?.();
  }

  async #connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => void this.#respond(message, transport);
    await transport.start?.();
  }

  async #respond(message: unknown, transport: Transport): Promise<void> {
    if (!isPlainObject(message) || message["id"] === undefined) return; // a notification
    const { id } = message as { readonly id: unknown };
    const result = await this.#handleMethod(
      readString(message, "method"),
      readRecord(message, "params"),
    );
    const response = result ?? { error: { code: -32601, message: "Method not found" } };
    await trySend(transport, { jsonrpc: "2.0", id, ...response });
    if (message["method"] === "tools/list") this.#onListed?.();
  }

  async #handleMethod(method: string, params: UnknownRecord): Promise<UnknownRecord | null> {
    if (method === "initialize") {
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: SERVER_NAME, version: "1" };
      const protocolVersion = readString(params, "protocolVersion");
      return { result: { protocolVersion, capabilities, serverInfo } };
    }
    if (method === "ping") return { result: {} };
    if (method === "tools/list") return { result: { tools: this.#tools.map(toListedTool) } };
    if (method !== "tools/call") return null;
    const callId = readString(readRecord(params, "_meta"), "claudecode/toolUseId");
    const call = { callId, name: readString(params, "name") };
    const { text, isError } = callId === "" ? NO_CALL_ID_ANSWER : await this.#runCall(call);
    return { result: { content: [{ type: "text", text }], isError } };
  }
}

/** Compares listings, because a newly rendered prompt may have new objects for the same tools. */
function listSameTools(tools: readonly Tool[], others: readonly Tool[]): boolean {
  if (tools.length === others.length && tools.every((tool, index) => tool === others[index]))
    return true;
  return JSON.stringify(tools.map(toListedTool)) === JSON.stringify(others.map(toListedTool));
}

/** Returns `false` if the SDK has ended, which the run reports. */
async function trySend(transport: Transport, message: object): Promise<boolean> {
  return await transport.send(message).then(
    () => true,
    () => false,
  );
}

/** The answer to a call without an id, which cannot be matched to the model's message. */
const NO_CALL_ID_ANSWER: BridgedAnswer = {
  text: "The call has no id and was not run.",
  isError: true,
};

/** Disables tool search, and allows the longest results that the SDK does not truncate. */
const LISTING_META = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 500_000 };

function toListedTool({ name, description, paramsSchema }: Tool): UnknownRecord {
  return { name, description, inputSchema: paramsSchema, _meta: LISTING_META };
}
