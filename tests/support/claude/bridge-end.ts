import type { UnknownRecord } from "../../../src/base/reading.ts";
import { recordAt, recordsAt, textAt } from "../../../src/base/reading.ts";

/** What one of the SDK's own tools gives. */
export type NativeOutcome =
  | { readonly response: unknown }
  | { readonly error: string }
  /** By the SDK's own rules, which it asks after our hook: no other hook hears of it. */
  | { readonly refused: string };

/** The SDK's end of the server that a run gives it. */
export interface BridgeEnd {
  /** The tools there are, as the SDK was last told. */
  readonly listed: readonly string[];
  /** A request of any method; gives what came back. */
  ask(method: string, params?: UnknownRecord): Promise<UnknownRecord>;
  call(id: string, name: string, input: UnknownRecord): Promise<NativeOutcome>;
  /** From now on nothing can be sent any more, as when the process has ended. */
  close(): void;
}

/** Connects to the server among the options, and asks what it has, as the SDK does. */
export async function bridgeEnd(options: UnknownRecord): Promise<BridgeEnd> {
  const server = recordAt(recordAt(options, "mcpServers"), "wink");
  const waiting = new Map<unknown, (reply: UnknownRecord) => void>();
  let listed: readonly string[] = [];
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
  async function ask(method: string, params: UnknownRecord = {}): Promise<UnknownRecord> {
    const id = ++count;
    const { promise, resolve } = Promise.withResolvers<UnknownRecord>();
    waiting.set(id, resolve);
    transport.onmessage?.({ jsonrpc: "2.0", id, method, params });
    return await promise;
  }
  async function list(): Promise<void> {
    const { result } = await ask("tools/list");
    listed = recordsAt(recordAt({ result }, "result"), "tools").map((one) => textAt(one, "name"));
  }
  await Object(server["instance"]).connect(transport);
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
  transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/initialized" });
  await list();
  return {
    get listed() {
      return listed;
    },
    ask,
    async call(id, name, input) {
      const _meta = { "claudecode/toolUseId": id, progressToken: count };
      const { result } = await ask("tools/call", { name, arguments: input, _meta });
      const told = recordAt({ result }, "result");
      const [block = {}] = recordsAt(told, "content");
      const text = textAt(block, "text");
      return told["isError"] === true ? { error: text } : { response: text };
    },
    close: () => {
      isClosed = true;
    },
  };
}
