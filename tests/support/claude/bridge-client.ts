import { readRecord, readRecords, readString, type UnknownRecord } from "../../../src/base/json.ts";

/** The outcome of a call to a native tool. */
export type NativeOutcome =
  | { readonly response: unknown }
  | { readonly error: string }
  /** Denied by the SDK's permission rules, which run after the `PreToolUse` hook. No other hook runs. */
  | { readonly denied: string };

/** A client of the MCP server that a run passes to the SDK. */
export interface BridgeClient {
  /** Names of the tools in the last list. */
  readonly toolNames: readonly string[];
  /** Sends a request with any method and returns the response. */
  request(method: string, params?: UnknownRecord): Promise<UnknownRecord>;
  call(id: string, name: string, input: UnknownRecord): Promise<NativeOutcome>;
  /** Makes all later messages fail, as if the process had ended. */
  close(): void;
}

/** Connects to the server in the options and lists its tools, as the SDK does. */
export async function connectBridge(options: UnknownRecord): Promise<BridgeClient> {
  const server = readRecord(readRecord(options, "mcpServers"), "wink");
  const waiting = new Map<unknown, (reply: UnknownRecord) => void>();
  let toolNames: readonly string[] = [];
  let count = 0;
  let isClosed = false;
  const transport: {
    onmessage?: (message: unknown) => void;
    send(message: UnknownRecord): Promise<void>;
  } = {
    async send(message) {
      if (isClosed) throw new Error("Transport is closed");
      if (message["method"] === "notifications/tools/list_changed") void list();
      waiting.get(message["id"])?.(message);
    },
  };
  async function request(method: string, params: UnknownRecord = {}): Promise<UnknownRecord> {
    const id = ++count;
    const { promise, resolve } = Promise.withResolvers<UnknownRecord>();
    waiting.set(id, resolve);
    transport.onmessage?.({ jsonrpc: "2.0", id, method, params });
    return await promise;
  }
  async function list(): Promise<void> {
    const { result } = await request("tools/list");
    toolNames = readRecords(readRecord({ result }, "result"), "tools").map((one) =>
      readString(one, "name"),
    );
  }
  await Object(server["instance"]).connect(transport);
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
  transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/initialized" });
  await list();
  return {
    get toolNames() {
      return toolNames;
    },
    request,
    async call(id, name, input) {
      const _meta = { "claudecode/toolUseId": id, progressToken: count };
      const { result } = await request("tools/call", { name, arguments: input, _meta });
      const response = readRecord({ result }, "result");
      const [block = {}] = readRecords(response, "content");
      const text = readString(block, "text");
      return response["isError"] === true ? { error: text } : { response: text };
    },
    close: () => {
      isClosed = true;
    },
  };
}
