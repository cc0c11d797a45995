import { describe, expect, it, onTestFinished } from "vitest";
import {
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import {
  CompactionError,
  type CompactionStrategy,
  compactionSlice,
  historySlice,
  OpenAIAdapter,
} from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import * as z from "zod";
import { temporaryTree } from "../support/temporary-tree.ts";

const read = new Tool({
  name: "read",
  description: "Reads the manual.",
  params: z.object({}),
  handler: () => ToolResult.ok(null, "owls ".repeat(2_000)),
});
const section = new MarkdownSection({ key: "t", title: "T", template: "Read.", tools: [read] });
const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "k", sections: [section] }));

/** Evaluates the prompt on a provider of its own, as another process would. */
async function evaluateOnNewProvider(
  session: Session,
  options: { readonly strategy: CompactionStrategy; readonly continue: boolean; dataDir?: string },
) {
  const { strategy, dataDir, continue: continues } = options;
  const model = scriptedModel(({ items }) =>
    JSON.stringify(items).includes("owls")
      ? [{ say: "Owls." }]
      : [{ call: { name: "read", args: {} } }],
  );
  const provider = new LocalProvider({ model, dataDir });
  try {
    const adapter = new OpenAIAdapter({
      model: "local",
      clientConfig: { fetch: provider.fetch },
      compaction: { thresholdTokens: 1_000, strategy, zdrMode: true },
    });
    return await adapter.evaluate(prompt, { session, continue: continues });
  } finally {
    await provider[Symbol.asyncDispose]();
  }
}

async function createCompactedSession(strategy: CompactionStrategy, dataDir?: string) {
  const store = new JsonlSessionStore(temporaryTree());
  onTestFinished(() => store.close());
  const session = new Session({ id: "s", store });
  await evaluateOnNewProvider(session, { strategy, continue: true, ...(dataDir && { dataDir }) });
  await session.flush();
  const opened = await Session.open(store, "s", [historySlice, compactionSlice]);
  expect(opened.get(compactionSlice).encryptedItems).toHaveLength(1);
  return opened;
}

describe.each(["endpoint", "server"] as const)(
  "a compacted session (%s) reopened on a new local provider",
  (strategy) => {
    it.each([true, false])(
      "fails with an error that says that the sealing key is gone and what to do, with continue: %s",
      async (continues) => {
        const session = await createCompactedSession(strategy);
        const evaluating = evaluateOnNewProvider(session, { strategy, continue: continues });
        const failure = await evaluating.catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(PromptEvaluationError);
        expect(failure).not.toBeInstanceOf(CompactionError);
        expect(failure).toMatchObject({
          phase: "request",
          cause: { status: 400, code: "invalid_encrypted_content" },
          message: expect.stringMatching(
            /could not be verified.*the key that sealed it is gone: a LocalProvider without dataDir has a new key each time\. Pass the same dataDir to every LocalProvider of a session, or start a new conversation in a new Session/,
          ),
        });
      },
    );

    it("continues with the same dataDir", async () => {
      const dataDir = temporaryTree();
      const session = await createCompactedSession(strategy, dataDir);
      const response = await evaluateOnNewProvider(session, { strategy, continue: true, dataDir });
      expect(response.text).toBe("Owls.");
    });
  },
);
