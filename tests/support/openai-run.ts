import {
  type EvaluateOptions,
  MarkdownSection,
  type MarkdownSectionOptions,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import { fakeClock, recordingBus } from "weakincentives/testing";
import { testKey } from "./openai-clients.ts";
import { startWireServer, type WireScript, type WireServerOptions } from "./wire-server.ts";

type Parts = Partial<MarkdownSectionOptions<object, object, never, never>>;

/** Creates a prompt with the text `Go.` and these section options. */
export function createTaskPrompt(parts: Parts = {}): Prompt<string> {
  const section = new MarkdownSection({ key: "task", title: "Task", template: "Go.", ...parts });
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [section] }));
}

/** A tool without params that returns `Seen.`. */
export const lookTool = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  effects: "none",
  handler: () => ToolResult.ok(null, "Seen."),
});

/** The message that the prompt of `promptWith` is sent as. */
export const systemMessage = {
  type: "message",
  role: "system",
  content: "## 1. Task (task)\n\nGo.",
};

/** Options of `runOn`. */
export interface RunOptions {
  readonly prompt?: Prompt<unknown>;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly evaluate?: Partial<EvaluateOptions>;
  readonly server?: WireServerOptions;
  /** @default the built-in client */
  readonly client?: (url: string) => Pick<OpenAIAdapterOptions, "client" | "clientConfig">;
}

/** Evaluates a prompt against a server that plays `script`. Returns a thrown error as `error`. */
export async function runScript(script: WireScript, options: RunOptions = {}) {
  const server = await startWireServer(script, { leftOver: "allowed", ...options.server });
  const bus = recordingBus();
  const clock = fakeClock({ skipsSleep: true });
  const client = options.client ?? ((baseURL) => ({ clientConfig: { apiKey: testKey, baseURL } }));
  try {
    const about = { model: "gpt-5.2", ...client(server.url), clock, ...options.adapter };
    const adapter = new OpenAIAdapter(about);
    const session = new Session({ bus });
    const [done] = await Promise.allSettled([
      adapter.evaluate(options.prompt ?? createTaskPrompt(), { session, ...options.evaluate }),
    ]);
    const { requests } = server;
    const bodies = requests.filter(({ path }) => path === "/responses").map(({ body }) => body);
    const ended =
      done.status === "fulfilled"
        ? { response: done.value, error: null }
        : { response: null, error: done.reason as Error };
    return { ...ended, bus, bodies, requests, session, adapter };
  } finally {
    await server.close();
  }
}
