import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as root from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import { MemorySessionStore } from "../memory-session-store.ts";
import { prompt, type Row, session, template } from "./row.ts";

const memory = new InMemoryFilesystem();
const usage = new root.BudgetTracker(new root.Budget({ maxInputTokens: 1 })).total;

class PlainSection extends root.Section {
  override render(): string {
    return "";
  }
}

/** Prompts, sessions and the loop of `weakincentives`. */
export const promptRows: readonly Row[] = [
  [
    "PlainSection",
    "sumary",
    "summary",
    (o) => new PlainSection({ key: "s", title: "S", ...Object(o) }),
  ],
  [
    "MarkdownSection",
    "polices",
    "policies",
    (o) => new root.MarkdownSection({ key: "s", title: "S", template: "T", ...Object(o) }),
  ],
  [
    "MarkdownSection",
    "templat",
    "template",
    (o) => new root.MarkdownSection({ key: "s", title: "S", template: "T", ...Object(o) }),
  ],
  [
    "MarkdownSection",
    "titel",
    "title",
    (o) =>
      new root.MarkdownSection({ key: "s", title: "S", template: "T" }).clone({ ...Object(o) }),
  ],
  [
    "definePrompt",
    "instruction",
    "instructions",
    (o) => root.definePrompt({ name: "a", instructions: "Go.", ...Object(o) }),
  ],
  ["WebSearchSection(options)", "kye", "key", (o) => new root.WebSearchSection({}, o)],
  ["WebSearchSection(options)", "kye", "key", (o) => new root.WebSearchSection().clone(o)],
  [
    "VfsToolsSection",
    "readonly",
    "readOnly",
    (o) => new root.VfsToolsSection({ filesystem: memory, ...Object(o) }),
  ],
  [
    "VfsToolsSection",
    "readonly",
    "readOnly",
    (o) => new root.VfsToolsSection({ filesystem: memory }).clone(o),
  ],
  [
    "PromptTemplate",
    "ouput",
    "output",
    (o) => new root.PromptTemplate({ ns: "demo", key: "k", sections: [], ...Object(o) }),
  ],
  ["Prompt(options)", "overideTag", "overridesTag", (o) => new root.Prompt(template, o)],
  ["Prompt.render(options)", "sesion", "session", (o) => prompt.render(o)],
  [
    "attach(files)[0]",
    "filname",
    "filename",
    (o) => prompt.attach({ bytes: new Uint8Array(1), filename: "a", ...Object(o) }),
  ],
  [
    "LocalOverridesStore.save(overrides)",
    "section",
    "sections",
    (o) => new root.LocalOverridesStore(memory).save(template.descriptor, "latest", o),
  ],
  [
    'LocalOverridesStore.save(overrides).sections["s"]',
    "boddy",
    "body",
    (o) => {
      const expectedHash = template.descriptor.sections[0]?.contentHash ?? "";
      const overrides = { sections: { s: { expectedHash, body: "New.", ...Object(o) } } };
      const store = new root.LocalOverridesStore(memory);
      return store.save(template.descriptor, "latest", overrides);
    },
  ],
  ["Session", "tag", "tags", (o) => new root.Session(o)],
  [
    "Session.parse(options)",
    "clok",
    "clock",
    (o) => root.Session.parse(session.serialize(), [], o),
  ],
  ["Session.open(options)", "clok", "clock", (o) => openStoredSession(o)],
  [
    "Session.openOrCreate(options)",
    "clok",
    "clock",
    (o) => root.Session.openOrCreate(new MemorySessionStore(), "s", [], o),
  ],
  ["SessionStore.claim(options)", "ownr", "owner", (o) => claimSession(o)],
  ["InProcessEventBus", "onEror", "onError", (o) => new root.InProcessEventBus(o)],
  [
    'Slice "a"',
    "inital",
    "initial",
    (o) => root.defineSlice("a", { initial: 0, on: {}, ...Object(o) }),
  ],
  [
    "Budget",
    "maxTotalToken",
    "maxTotalTokens",
    (o) => new root.Budget({ maxInputTokens: 1, ...Object(o) }),
  ],
  [
    "Budget.prices",
    "hostd",
    "hosted",
    (o) => new root.Budget({ maxUsd: 1, prices: { ...root.defaultPrices, ...Object(o) } }),
  ],
  [
    "estimateCost(options)",
    "modl",
    "model",
    (o) => root.estimateCost(usage, [], { model: "gpt-5.2", ...Object(o) }),
  ],
  [
    "Clock.sleep(options)",
    "backgroud",
    "background",
    (o) => root.systemClock.sleep(0, undefined, o),
  ],
  [
    "evaluate(options)",
    "budgt",
    "budget",
    (o) => {
      const model = scriptedClient({ text: "Hi." });
      return root.evaluate(prompt, model, { session, adapter: model, ...Object(o) });
    },
  ],
];

async function openStoredSession(options: never): Promise<root.Session> {
  return await withStore(async (store) => {
    await new root.Session({ store, id: "a" }).flush();
    return await root.Session.open(store, "a", [], options);
  });
}

async function claimSession(options: never): Promise<root.SessionClaim> {
  return await withStore(async (store) => await store.claim("a", options));
}

/** Calls `use` with a store in a temporary folder, which is closed and removed afterwards. */
async function withStore<Result>(
  use: (store: JsonlSessionStore) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "wink-options-"));
  const store = new JsonlSessionStore(folder);
  try {
    return await use(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
