import { onTestFinished } from "vitest";
import {
  type EvaluateOptions,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import { fakeClock, recordingBus } from "weakincentives/testing";
import * as z from "zod";
import type { WireItem } from "../../src/openai/wire.ts";
import { compactionRoutes } from "./compaction/compaction-routes.ts";
import { testKey } from "./openai-clients.ts";
import { lookTool } from "./openai-run.ts";
import { functionCall, type SeenRequest, startWireServer, type WireScript } from "./wire-server.ts";

/** A system section with the tool `look`. */
export const rulesSection = new MarkdownSection({
  key: "rules",
  title: "Rules",
  template: "Be brief.",
  tools: [lookTool],
});

const taskSection = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Sort $what.",
  params: z.object({ what: z.string() }),
  role: "user",
});

/** Creates a section that is a summary until the model opens it. */
export function createClosedSection(key: string, role: "system" | "user"): MarkdownSection {
  const tool = new Tool({
    name: `peek_${key}`,
    description: "Peeks.",
    params: null,
    handler: () => ToolResult.ok(null),
  });
  return new MarkdownSection({
    ...{ key, title: "More", role, tools: [tool] },
    template: "By size, then by color.",
    summary: "How to sort.",
    visibility: "summary",
  });
}

/** Creates the model's call that opens a section. */
export function openSection(key: string, callId: string): WireItem {
  return functionCall("open_sections", { section_keys: [key], reason: "To see." }, callId);
}

/** Creates a prompt of these sections. */
export function createRolesPrompt(...sections: readonly MarkdownSection[]): Prompt {
  return new Prompt(new PromptTemplate({ ns: "test", key: "sort", sections }));
}

/** Creates a prompt with a system section and a user section. */
export function createSortPrompt(what = "owls"): Prompt {
  const sections = [rulesSection, taskSection];
  return new Prompt(new PromptTemplate({ ns: "test", key: "sort", sections })).bind({ what });
}

/** The message that `rulesSection` is sent as. */
export const rulesMessage = {
  type: "message",
  role: "system",
  content: "## 1. Rules (rules)\n\nBe brief.",
};

/** Creates a user message. */
export function createUserMessage(content: unknown): WireItem {
  return { type: "message", role: "user", content };
}

/** The message that the user section of `createSortPrompt` is sent as. */
export const sortMessage = createUserMessage("## 2. Task (task)\n\nSort owls.");

/** The options of a run. */
export interface RolesRunOptions {
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  /** The provider's token counts. @default 1 */
  readonly tokens?: number | ((nth: number) => number);
}

/** Starts an adapter and a server that plays `script`. The server is closed when the test ends. */
export async function startRolesRun(script: WireScript, options: RolesRunOptions = {}) {
  const { routes, compactions } = compactionRoutes({ tokens: options.tokens ?? 1 });
  const server = await startWireServer(script, { leftOver: "allowed", routes });
  onTestFinished(() => server.close());
  const bus = recordingBus();
  const session = new Session({ bus });
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    clientConfig: { apiKey: testKey, baseURL: server.url },
    clock: fakeClock({ skipsSleep: true }),
    throttle: { maxAttempts: 3, baseDelayMs: 1 },
    ...options.adapter,
  });
  const listTurns = () => server.requests.filter(({ path }) => path === "/responses");
  return {
    ...{ bus, session, compactions },
    evaluate: (prompt: Prompt, more: EvaluateOptions = {}) =>
      adapter.evaluate(prompt, { session, ...more }),
    /** Every `POST /responses` request, in order of arrival. */
    get turns(): readonly SeenRequest[] {
      return listTurns();
    },
    /** The `input` of every `POST /responses` request. */
    get inputs(): readonly (readonly WireItem[])[] {
      return listTurns().map(({ body }) => Object(body["input"]));
    },
  };
}
