import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { recordAt, textAt } from "../../base/reading.ts";
import type { Tool } from "../../tools/tool.ts";

/** A call of one of our tools by the SDK. */
export interface BridgedCall {
  /** The id of the model's `tool_use`. */
  readonly callId: string;
  readonly name: string;
}

/** What the model reads as the result of a call. */
export interface BridgedAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** The SDK's connection to a server in this process. */
interface Transport {
  onmessage?: ((message: unknown) => void) | undefined;
  start?(): Promise<void>;
  send(message: object): Promise<void>;
}

/** The server's name, which is part of the names of our tools: `mcp__wink__add`. */
export const SERVER = "wink";

/** Returns the name by which the model calls one of our tools. */
export function bridgedName(name: string): string {
  return `mcp__${SERVER}__${name}`;
}

/** Returns our name of a tool that the model called; `null` for one of the SDK's own. */
export function ownName(name: string): string | null {
  const prefix = bridgedName("");
  return name.startsWith(prefix) ? name.slice(prefix.length) : null;
}

/**
 * Offers our tools to the SDK as a Model Context Protocol server in this process, and passes each
 * call on. It does not check arguments: the adapter does that for all tool calls.
 */
export class ToolBridge {
  readonly #run: (call: BridgedCall) => Promise<BridgedAnswer>;
  #tools: readonly Tool[] = [];
  #transport: Transport | null = null;
  #listed: (() => void) | null = null;

  constructor(run: (call: BridgedCall) => Promise<BridgedAnswer>) {
    this.#run = run;
  }

  /** For the SDK's option `mcpServers`. */
  get servers(): UnknownRecord {
    const instance = {
      connect: (transport: Transport) => this.#connect(transport),
      close: async () => {},
    };
    return { [SERVER]: { type: "sdk", name: SERVER, instance } };
  }

  /** Sets the tools. If the SDK runs, this waits until it has listed them. */
  async offer(tools: readonly Tool[]): Promise<void> {
    const before = this.#tools;
    this.#tools = tools;
    if (!this.#transport || isSame(tools, before)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listed = resolve;
    const change = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    if (await trySend(this.#transport, change)) await promise;
  }

  /** Ends all waiting, because the SDK has ended. */
  close(): void {
    this.#transport = null;
    this.#listed?.();
  }

  async #connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => void this.#answer(message, transport);
    await transport.start?.();
  }

  async #answer(message: unknown, transport: Transport): Promise<void> {
    if (!isPlainObject(message) || message["id"] === undefined) return; // a notification
    const { id } = message as { readonly id: unknown };
    const result = await this.#resultOf(textAt(message, "method"), recordAt(message, "params"));
    const reply = result ?? { error: { code: -32601, message: "There is no such method" } };
    await trySend(transport, { jsonrpc: "2.0", id, ...reply });
    if (message["method"] === "tools/list") this.#listed?.();
  }

  async #resultOf(method: string, params: UnknownRecord): Promise<UnknownRecord | null> {
    if (method === "initialize") {
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: SERVER, version: "1" };
      const protocolVersion = textAt(params, "protocolVersion");
      return { result: { protocolVersion, capabilities, serverInfo } };
    }
    if (method === "ping") return { result: {} };
    if (method === "tools/list") return { result: { tools: this.#tools.map(toListedTool) } };
    if (method !== "tools/call") return null;
    const callId = textAt(recordAt(params, "_meta"), "claudecode/toolUseId");
    const call = { callId, name: textAt(params, "name") };
    const { text, isError } = callId === "" ? nameless : await this.#run(call);
    return { result: { content: [{ type: "text", text }], isError } };
  }
}

/** A prompt that is rendered again has new tool objects, which may list the same. */
function isSame(tools: readonly Tool[], others: readonly Tool[]): boolean {
  if (tools.length === others.length && tools.every((tool, index) => tool === others[index]))
    return true;
  return JSON.stringify(tools.map(toListedTool)) === JSON.stringify(others.map(toListedTool));
}

/** Returns `false` if the SDK has ended. The run reports that. */
async function trySend(transport: Transport, message: object): Promise<boolean> {
  return await transport.send(message).then(
    () => true,
    () => false,
  );
}

/** The answer to a call without an id, which cannot be matched with the model's message. */
const nameless: BridgedAnswer = { text: "The call has no id, and was not run.", isError: true };

/** Lists tools without a tool search, and allows the longest results that the SDK passes on whole. */
const WHOLE = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 500_000 };

function toListedTool({ name, description, paramsSchema }: Tool): UnknownRecord {
  return { name, description, inputSchema: paramsSchema, _meta: WHOLE };
}
