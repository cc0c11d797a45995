import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Session, toolLog } from "weakincentives";
import { claudeHistorySlice } from "weakincentives/claude";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { compactionSlice, historySlice, OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import {
  createFixture,
  createPrompt,
  startScriptedServer,
} from "./support/claude/claude-fixture.ts";
import { textBlock } from "./support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "./support/claude/sdk-installed.ts";
import { temporaryTree } from "./support/temporary-tree.ts";

const stored = join(import.meta.dirname, "support/sessions-0.1.0");
const slices = [toolLog, historySlice, compactionSlice];

/** Opens a copy of a session that release 0.1.0 stored. */
async function openCopy(id: string, wanted: Parameters<typeof Session.open>[2]) {
  const folder = temporaryTree();
  cpSync(join(stored, `${id}.jsonl`), join(folder, `${id}.jsonl`));
  const store = new JsonlSessionStore(folder);
  onTestFinished(() => store.close());
  return { folder, store, session: await Session.open(store, id, wanted) };
}

function readSerialized(id: string): string {
  return readFileSync(join(stored, `${id}.serialized.txt`), "utf8");
}

/** A local provider with the key that sealed the stored session. */
function startProvider(answer: string) {
  const dataDir = temporaryTree();
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, "seal.key"), new Uint8Array(32).fill(7));
  const seen: string[] = [];
  const model = scriptedModel(({ items }) => {
    seen.push(JSON.stringify(items));
    return [{ think: "It is long ago." }, { say: answer }];
  });
  const provider = new LocalProvider({ model, dataDir });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const clientConfig = { fetch: provider.fetch };
  const compaction = { thresholdTokens: 50_000 };
  const modelConfig = { store: false };
  return {
    seen,
    adapter: new OpenAIAdapter({ model: "gpt-5.2", clientConfig, compaction, modelConfig }),
  };
}

const section = new MarkdownSection({ key: "t", title: "T", template: "What was it about?" });
const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "new", sections: [section] }));

describe("a session stored by release 0.1.0 on OpenAI", () => {
  it("opens with its history, its compaction and its log", async () => {
    const { session } = await openCopy("openai", slices);
    const parsed = Session.parse(readSerialized("openai"), slices);
    expect(session.get(historySlice)).toEqual(parsed.get(historySlice));
    expect(session.get(historySlice)).toHaveLength(10);
    expect(session.get(compactionSlice)).toEqual(parsed.get(compactionSlice));
    expect(session.get(compactionSlice)).toMatchObject({ compactionCount: 1, model: "gpt-5.2" });
    expect(session.get(toolLog).map(({ name }) => name)).toEqual(["read", "fail", "read", "read"]);
  });

  it("continues, and opens again with old and new records", async () => {
    const { folder, store, session } = await openCopy("openai", slices);
    const { seen, adapter } = startProvider("Owls.");
    const { text } = await adapter.evaluate(prompt, { session, continue: true });
    expect(text).toBe("Owls.");
    expect(seen.join()).toContain("Page three is about owls too.");
    expect(seen.join()).toContain("Read page three.");
    await session.flush();
    await store.close();
    const again = await Session.open(new JsonlSessionStore(folder), "openai", slices);
    expect(again.get(historySlice)).toEqual(session.get(historySlice));
    expect(again.get(historySlice).length).toBeGreaterThan(10);
  });

  it("continues from serialized text", async () => {
    const session = Session.parse(readSerialized("openai"), slices);
    const { seen, adapter } = startProvider("Owls.");
    const { text } = await adapter.evaluate(prompt, { session, continue: true });
    expect([text, seen.length]).toEqual(["Owls.", 1]);
  });
});

describe("a session stored by release 0.1.0 on Claude", () => {
  it("opens with its history", async () => {
    const { session } = await openCopy("claude", [claudeHistorySlice]);
    const parsed = Session.parse(readSerialized("claude"), [claudeHistorySlice]);
    expect(session.get(claudeHistorySlice)).toEqual(parsed.get(claudeHistorySlice));
    expect(session.get(claudeHistorySlice).length).toBeGreaterThan(2);
  });

  it.skipIf(sdkMissing)(
    "continues on the real SDK",
    async () => {
      const { session } = await openCopy("claude", [claudeHistorySlice]);
      const endpoint = await startScriptedServer([{ content: [textBlock("It is grey.")] }]);
      const { run } = createFixture(endpoint, { session });
      const evaluate = { continue: true };
      const { text } = await run(createPrompt({ template: "Which color?" }), { evaluate });
      expect(text).toBe("It is grey.");
      expect(endpoint.requests[0]?.text).toContain("It is an owl.");
      expect(session.get(claudeHistorySlice).length).toBeGreaterThan(4);
    },
    SDK_TIMEOUT,
  );
});
