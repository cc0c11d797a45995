import { isPlainObject } from "../../base/freeze.ts";
import { recordAt, textAt } from "../../base/reading.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Given } from "../given.ts";

/** A call that the SDK has for one of our tools. */
export interface BridgedCall {
  /** The model's `tool_use`. */
  readonly callId: string;
  readonly name: string;
}

/** What the model is to read. */
export interface BridgedAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** What the SDK talks to a server in this process through. */
interface Transport {
  onmessage?: ((message: unknown) => void) | undefined;
  start?(): Promise<void>;
  send(message: object): Promise<void>;
}

/** Under which the SDK knows our tools: `mcp__wink__add`. */
export const SERVER = "wink";

/** The model-side name of a tool. */
export function bridgedName(name: string): string {
  return `mcp__${SERVER}__${name}`;
}

/** Our name of a tool that the model called; `null` for one of the SDK's own. */
export function ownName(name: string): string | null {
  const prefix = bridgedName("");
  return name.startsWith(prefix) ? name.slice(prefix.length) : null;
}

/**
 * Our tools as a server of the Model Context Protocol within this process: it says what there is,
 * and hands every call on. Arguments are looked at where all tool calls are.
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
  get servers(): Given {
    const instance = {
      connect: (transport: Transport) => this.#connect(transport),
      close: async () => {},
    };
    return { [SERVER]: { type: "sdk", name: SERVER, instance } };
  }

  /** Says what there is from now on; once the SDK runs, when it has taken note. */
  async offer(tools: readonly Tool[]): Promise<void> {
    const before = this.#tools;
    this.#tools = tools;
    if (!this.#transport || isSame(tools, before)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listed = resolve;
    const change = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    if (await isSent(this.#transport, change)) await promise;
  }

  /** The SDK has ended: nobody waits for it any more. */
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
    await isSent(transport, { jsonrpc: "2.0", id, ...reply });
    if (message["method"] === "tools/list") this.#listed?.();
  }

  async #resultOf(method: string, params: Given): Promise<Given | null> {
    if (method === "initialize") {
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: SERVER, version: "1" };
      const protocolVersion = textAt(params, "protocolVersion");
      return { result: { protocolVersion, capabilities, serverInfo } };
    }
    if (method === "ping") return { result: {} };
    if (method === "tools/list") return { result: { tools: this.#tools.map(toolOf) } };
    if (method !== "tools/call") return null;
    const callId = textAt(recordAt(params, "_meta"), "claudecode/toolUseId");
    const call = { callId, name: textAt(params, "name") };
    const { text, isError } = callId === "" ? nameless : await this.#run(call);
    return { result: { content: [{ type: "text", text }], isError } };
  }
}

/** A prompt that was rendered anew has new tools, which may say what the old ones did. */
function isSame(tools: readonly Tool[], others: readonly Tool[]): boolean {
  if (tools.length === others.length && tools.every((tool, index) => tool === others[index]))
    return true;
  return JSON.stringify(tools.map(toolOf)) === JSON.stringify(others.map(toolOf));
}

/** `false` where the SDK has ended: whoever waits for it is told that elsewhere. */
async function isSent(transport: Transport, message: object): Promise<boolean> {
  return await transport.send(message).then(
    () => true,
    () => false,
  );
}

/** Nobody could say which of the model's calls it is. */
const nameless: BridgedAnswer = { text: "The call has no id, and was not run.", isError: true };

/** Never behind a search for tools; and results come whole, as far as the SDK lets them. */
const WHOLE = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 500_000 };

function toolOf({ name, description, paramsSchema }: Tool): Given {
  return { name, description, inputSchema: paramsSchema, _meta: WHOLE };
}
