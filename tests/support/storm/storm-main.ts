/**
 * Runs an agent until it has its answer, or until the process is killed:
 * `node tests/support/storm/storm-main.ts SETTINGS`, where SETTINGS is the JSON of `StormSettings`. It prints a line
 * when the evaluation begins and one with its answer.
 */
import { appendFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import * as z from "zod";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  type SessionStore,
  Tool,
  ToolResult,
} from "../../../src/index.ts";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "../../../src/openai/index.ts";
import { AcknowledgingStore } from "./acknowledging-store.ts";
import { openStormStore, type StormStore } from "./storm-store.ts";

/** Settings of one run of the storm. */
export interface StormSettings {
  /** The provider's address. */
  readonly url: string;
  /** A folder of the run: its store, effects, workspace and result. */
  readonly folder: string;
  readonly store: StormStore;
  /** Id of the session. */
  readonly id: string;
  /** Number of steps that the model takes. */
  readonly steps: number;
  readonly delivery: "stream" | "background";
}

if (import.meta.main) {
  const settings: StormSettings = JSON.parse(process.argv[2] ?? "{}");
  const opened = await openStormStore(settings.store, settings.folder);
  try {
    await runToTheEnd(settings, new AcknowledgingStore(opened.store, settings.folder));
  } finally {
    await opened.close();
  }
}

async function runToTheEnd(settings: StormSettings, store: SessionStore): Promise<void> {
  const { url, folder, id, delivery } = settings;
  const session = await Session.openOrCreate(store, id);
  session.bus.subscribe("ContextCompacted", () => append(folder, "compactions", "compacted"));
  const workspace = new OpenAIContainerWorkspaceSection({
    session,
    key: "workspace",
    mounts: [{ hostPath: join(folder, "work") }],
    allowedHostRoots: [folder],
    persistDir: join(folder, "kept"),
    syncOnCleanup: true,
    syncDestination: join(folder, "result"),
  });
  const adapter = new OpenAIAdapter({
    model: "local",
    hostedTools: { codeInterpreter: true },
    clientConfig: { baseURL: url, apiKey: "local" },
    compaction: { thresholdTokens: 3_000 },
    delivery,
  });
  const prompt = createPrompt(settings, workspace);
  writeSync(1, "begins\n");
  try {
    const { text } = await adapter.evaluate(prompt, { session, resume: true });
    writeFileSync(join(folder, "answer.txt"), text);
  } finally {
    await workspace.cleanup();
  }
  writeSync(1, "done\n");
}

function createPrompt(
  { folder, steps }: StormSettings,
  workspace: OpenAIContainerWorkspaceSection,
): Prompt {
  const params = z.object({ step: z.int() });
  const charge = new Tool({
    name: "charge",
    description: "Charges for a step. Never call it twice for a step.",
    params,
    handler: async ({ step }, { callKey }) => {
      append(folder, "charges", `${step} ${callKey}`);
      await setTimeout(5 + (step % 3) * 10);
      return ToolResult.ok(null, `charged step ${step}`);
    },
  });
  const note = new Tool({
    name: "note",
    description: "Notes a step in work/notes.txt.",
    params,
    effects: "idempotent", // the workspace is restored before a call runs again
    handler: async ({ step }, { filesystem, callKey }) => {
      append(folder, "notes", `${step} ${callKey}`);
      const path = "work/notes.txt";
      const notes = (await filesystem?.exists(path)) ? await filesystem?.readText(path) : "";
      await setTimeout(5);
      await filesystem?.writeText(path, `${notes}step ${step}\n`);
      return ToolResult.ok(null, `noted step ${step}: ${"reading ".repeat(150)}`);
    },
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: `Take every step, one after the other, up to step ${steps}.`,
    tools: [charge, note],
  });
  return new Prompt(new PromptTemplate({ ns: "tests", key: "storm", sections: [task, workspace] }));
}

function append(folder: string, name: string, line: string): void {
  appendFileSync(join(folder, `${name}.log`), `${line}\n`);
}
