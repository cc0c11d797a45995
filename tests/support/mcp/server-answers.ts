/** How a test's server behaves. Sent to a child process as JSON. */
export interface ServerBehavior {
  /** Tools that it lists; a few useful ones by default. */
  readonly tools?: readonly object[];
  /** Lists this many tools, named `tool_0` and so on. */
  readonly toolCount?: number;
  /** Every page has a next page. */
  readonly endlessPages?: boolean;
  /** Methods that are never answered. */
  readonly silent?: readonly string[];
  /** Answers this to `tools/list` instead of a list. */
  readonly listResult?: object;
  readonly stderr?: string;
  readonly exitsAtStart?: boolean;
  readonly exitCode?: number;
  /** Exits neither at the end of its input nor on SIGTERM. */
  readonly ignoresEnd?: boolean;
  readonly instructions?: string;
  /** Capabilities that it declares; tools by default. */
  readonly capabilities?: object;
}

/** Actions of a server in addition to its answers. */
export interface ServerActions {
  notify(method: string, params?: object): void;
  crash(): void;
  writeRaw(text: string): void;
  startHelper(): number;
  readEnvironment(): object;
}

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly cursor?: string;
    readonly protocolVersion?: string;
    readonly requestId?: number;
    readonly arguments?: Readonly<Record<string, unknown>>;
  };
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const open = { type: "object" };

/** Creates a function that returns the answer to a message, or `null` if there is none. */
export function createAnswers(behavior: ServerBehavior, actions: ServerActions) {
  const canceled: unknown[] = [];
  let extra: readonly object[] = [];
  let isChanged = false;

  return (message: Request): object | null => {
    const { id, method, params = {} } = message;
    if (method === "notifications/cancelled") canceled.push(params.requestId);
    if (id === undefined || behavior.silent?.includes(method)) return null;
    const result = answer(method, params);
    if (result === undefined) {
      return { id, error: { code: -32_601, message: `Method not found: ${method}` } };
    }
    return result === null ? null : { id, result };
  };

  function answer(method: string, params: NonNullable<Request["params"]>) {
    if (method === "initialize") {
      return {
        protocolVersion: params.protocolVersion,
        capabilities: behavior.capabilities ?? { tools: { listChanged: true } },
        serverInfo: { name: "test", version: "1.0.0" },
        instructions: behavior.instructions,
      };
    }
    if (method === "tools/list") return listTools(params.cursor);
    if (method === "tools/call") return callTool(params.name ?? "", params.arguments ?? {});
    return method === "ping" ? {} : undefined;
  }

  function listTools(cursor: string | undefined): object {
    if (behavior.listResult) return behavior.listResult;
    if (behavior.endlessPages) {
      const page = Number(cursor ?? 0);
      const tools = [{ name: `page_${page}`, inputSchema: open }];
      return { tools, nextCursor: String(page + 1) };
    }
    if (behavior.toolCount !== undefined) {
      const names = Array.from({ length: behavior.toolCount }, (_, index) => `tool_${index}`);
      return { tools: names.map((name) => ({ name, inputSchema: open })) };
    }
    return { tools: [...(behavior.tools ?? createUsualTools(isChanged)), ...extra] };
  }

  function callTool(name: string, args: Readonly<Record<string, unknown>>): object | null {
    if (name === "echo") return text(JSON.stringify(args));
    if (name === "fail") return { ...text("It is broken."), isError: true };
    if (name === "slow") return null;
    if (name === "canceled") return text(JSON.stringify(canceled));
    if (name === "env") return text(JSON.stringify(actions.readEnvironment()));
    if (name === "helper") return text(String(actions.startHelper()));
    if (name === "big") return text("x".repeat(Number(args["chars"])));
    if (name === "structured") return { content: [], structuredContent: { total: 12 } };
    if (name === "garbage") {
      actions.writeRaw('not JSON\n{"neither": "JSON-RPC"}\n[1, 2\n');
      return text("after the garbage");
    }
    if (name === "die") actions.crash();
    if (name === "change" || name === "storm") {
      isChanged = true;
      extra = [...extra, ...((args["add"] as readonly object[] | undefined) ?? [])];
      const times = name === "storm" ? 500 : 1;
      for (let time = 0; time < times; time++) actions.notify("notifications/tools/list_changed");
      return text("changed");
    }
    return name.startsWith("_") || behavior.tools ? text(`${name} ran`) : null;
  }
}

/** The tools that a server lists by default. `echo` needs another param after a change. */
function createUsualTools(isChanged: boolean): readonly object[] {
  const word = { word: { type: "string" } };
  const echo = isChanged
    ? { type: "object", properties: { ...word, times: { type: "integer" } }, required: ["times"] }
    : { type: "object", properties: word, required: ["word"] };
  const names = ["fail", "slow", "canceled", "env", "helper", "big", "structured", "garbage"];
  return [
    { name: "echo", description: "Returns its word.", inputSchema: echo },
    ...[...names, "die", "change", "storm"].map((name) => ({ name, inputSchema: open })),
  ];
}
