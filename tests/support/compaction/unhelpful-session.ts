import { onTestFinished } from "vitest";
import {
  type ContextCompacted,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { type CompactionConfig, OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const look = new Tool({
  name: "look",
  description: "Looks at a page.",
  params: z.object({ page: z.number() }),
  handler: ({ page }) => ToolResult.ok(null, `Page ${page} is about owls.`),
});

/**
 * Starts a session whose prompt exceeds a threshold of 2,000 tokens, so that its first compactions save
 * almost nothing. Records its compactions, requests and warnings.
 */
export function startUnhelpfulSession(
  compaction: CompactionConfig | null,
  session: Session = new Session(),
  dataDir?: string,
) {
  const model = scriptedModel(({ items }) => {
    const calls = items.filter((item) => "call_id" in item && !("output" in item)).length;
    const wanted = Number(/Look at (\d+) pages/.exec(JSON.stringify(items))?.[1]);
    return calls >= wanted
      ? [{ say: "Seen." }]
      : [{ call: { name: "look", args: { page: calls } } }];
  });
  const provider = new LocalProvider({ model, dataDir });
  const close = () => provider[Symbol.asyncDispose]();
  onTestFinished(close);
  const paths: string[] = [];
  const thresholds: unknown[] = [];
  const warnings: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    paths.push(path);
    if (path === "/v1/responses") {
      const { context_management: [first] = [] } = Object(await request.clone().json());
      if (first) thresholds.push(first.compact_threshold);
    }
    return await provider.fetch(request);
  };
  const log = () => {};
  const warn = (message: string) => void warnings.push(message);
  const compacted: ContextCompacted[] = [];
  session.bus.subscribe("ContextCompacted", (event) => compacted.push(event));
  const adapter = new OpenAIAdapter({
    model: "local",
    clientConfig: { fetch },
    compaction,
    modelConfig: { store: false },
    logger: { debug: log, info: log, warn, error: log },
  });
  return {
    ...{ session, paths, thresholds, warnings, compacted, close },
    /** Evaluates a prompt of about 3,000 tokens with this many tool calls. Returns all tokens used. */
    async run(pages: number): Promise<number> {
      const template = `Look at ${pages} pages.\n\n${"Owls are quiet birds. ".repeat(550)}`;
      const section = new MarkdownSection({ key: "t", title: "T", template, tools: [look] });
      const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "k", sections: [section] }));
      const options = { session, continue: true, maxTurns: pages + 2 };
      return (await adapter.evaluate(prompt, options)).usage.totalTokens;
    },
  };
}
