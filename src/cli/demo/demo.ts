import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Budget } from "../../base/budget.ts";
import { defaultPrices } from "../../base/costs/default-prices.ts";
import { findModelPrice } from "../../base/costs/estimate-cost.ts";
import { digestFiles, digestTree } from "../../files/digests/digest-files.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import { LocalProvider } from "../../local/provider.ts";
import type { Sandbox } from "../../local/sandbox/sandbox.ts";
import { OpenAIAdapter } from "../../openai/adapter.ts";
import type { OpenAIContainerWorkspaceSection } from "../../openai/workspace/container-workspace-section.ts";
import { Session } from "../../session/session.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { type RecordingBus, recordingBus } from "../../testing/recording-bus.ts";
import { endOnSignal, removeAtExit, type Stoppable, TemporaryFolder } from "../end-on-signal.ts";
import { type FoundSandbox, findSandbox, type SandboxName } from "../find-sandbox.ts";
import { ProgressLine, type Terminal } from "../progress-line.ts";
import { createGreenhousePrompt, createGreenhouseWorkspace, LOG, vents } from "./greenhouse.ts";
import { greenhouseModel, writeWebPages } from "./greenhouse-model.ts";
import {
  describeClaim,
  type Print,
  printAnswer,
  printCitations,
  printCost,
  printEvent,
  printFile,
  printMounts,
  printSync,
} from "./print-event.ts";

/** Options of the demo. */
export interface DemoOptions {
  readonly json: boolean;
  /** Folder that keeps the session, for `wink inspect`. @default it is not stored */
  readonly store?: string | undefined;
  /** Sandbox to run code in. @default "auto" */
  readonly sandbox?: SandboxName;
  /** Sandboxes to choose from. @default all of the library */
  readonly candidates?: readonly Sandbox[];
  /** Where progress is shown with `json`, if it is a terminal. @default standard error */
  readonly terminal?: Terminal;
}

/** The model whose price is shown. The scripted model is free. */
const PRICED_MODEL = "gpt-5.2";
const MODEL = "local";
const MAX_USD = 1;
const PRICE = findModelPrice(PRICED_MODEL, defaultPrices);
const PRICES = {
  ...defaultPrices,
  models: { ...defaultPrices.models, ...(PRICE && { [MODEL]: PRICE }) },
};

/** The same relative path from the source and from the compiled file. */
const REPOSITORY = fileURLToPath(new URL("../../../examples/greenhouse", import.meta.url));

/**
 * Runs the greenhouse agent on a local provider with its own data folder, and deletes both at the
 * end.
 */
export async function demo(
  { json, store, sandbox: which = "auto", candidates, terminal = process.stderr }: DemoOptions,
  host: Stoppable = process,
): Promise<void> {
  using folder = new TemporaryFolder("wink-demo-");
  const progress = new ProgressLine(terminal);
  progress.show(json ? "Running the demo …" : "Choosing a sandbox …");
  const stop = new AbortController();
  const [web, dataDir] = [join(folder.path, "web"), join(folder.path, "provider")];
  await writeWebPages(web);
  const sandbox = await findSandbox(which, candidates, "user");
  if (!json) progress.clear();
  const hasPython = sandbox.name !== null;
  const model = greenhouseModel({ hasPython });
  await using provider = new LocalProvider({ model, sandbox: which, dataDir, web });
  const started = { folder: folder.path, json, store, signal: stop.signal, sandbox, progress };
  const run = runDemo(provider, started).finally(() => progress.clear());
  const end = async () => {
    stop.abort();
    await provider[Symbol.asyncDispose]();
    await run.catch(() => {}); // it was stopped, and has cleaned up
  };
  using _ = endOnSignal(end, { code: 130, host });
  await run.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
}

interface DemoRun {
  /** Folder for all temporary files. */
  readonly folder: string;
  readonly json: boolean;
  /** Folder that keeps the session. */
  readonly store: string | undefined;
  readonly signal: AbortSignal;
  readonly sandbox: FoundSandbox;
  readonly progress: ProgressLine;
}

async function runDemo(provider: LocalProvider, run: DemoRun): Promise<void> {
  const { folder, json, signal, sandbox } = run;
  const bus = recordingBus();
  const store = run.store === undefined ? undefined : new JsonlSessionStore(run.store);
  const session = new Session({ bus, store, tags: { run: "wink demo" } }).register(vents);
  const workspace = createGreenhouseWorkspace({
    session,
    repository: REPOSITORY,
    syncDestination: join(folder, "synced"),
    hasPython: sandbox.name !== null,
  });
  const { tempDir } = workspace;
  using _ = removeAtExit(dirname(tempDir));
  const before = digestTree(await digestFiles(REPOSITORY));
  const print = json ? () => {} : (line: string) => console.log(line);
  printIntro(sandbox, print);
  printMounts(workspace.mountPreviews, print);
  printProgress({ bus, session, workspace }, print);

  const adapter = new OpenAIAdapter({ model: MODEL, clientConfig: { fetch: provider.fetch } });
  const budget = new Budget({ maxUsd: MAX_USD, prices: PRICES });
  const { output, usage, costUsd, hostedCalls, citations, egress } = await adapter
    .evaluate(createGreenhousePrompt(workspace), { session, signal, budget })
    .finally(() => workspace.cleanup());
  const synced = await workspace.cleanup(); // returns the report of the first cleanup
  await session.close();
  await store?.close();
  const isAsBefore = digestTree(await digestFiles(REPOSITORY)) === before;
  const producedFiles = readSyncedFiles(synced);
  const cost = { usd: costUsd, model: PRICED_MODEL, maxUsd: MAX_USD };
  if (json) {
    const { percent } = session.get(vents);
    const used = { output, usage, cost, egress };
    const told = { sandbox, mounts: workspace.mountPreviews, ...used, citations, synced };
    const rest = {
      isAsBefore,
      files: producedFiles,
      vents: { percent },
      hostedCalls,
      events: bus.events,
    };
    run.progress.clear();
    console.log(JSON.stringify({ ...told, ...rest }, null, 2));
    return;
  }
  printAnswer(output, usage, bus.of("TurnCompleted").length, print);
  printCost(cost, print);
  printCitations(citations, print);
  printSync(synced, print);
  print(`  the mounted examples/greenhouse is ${describeClaim(isAsBefore, "unchanged")}`);
  print(`  the temporary copy in ${tempDir} is ${describeClaim(!existsSync(tempDir), "deleted")}`);
  for (const [name, text] of Object.entries(producedFiles)) printFile(name, text, print);
  if (run.store !== undefined) print(`\nSee how it went: npx wink inspect ${run.store}`);
  print(
    "\nThe agent's source is src/cli/demo/greenhouse.ts in the repository. docs/guides/workspaces.md has smaller examples.",
  );
}

function printIntro({ name, reason }: FoundSandbox, print: Print): void {
  print("A greenhouse agent that works overnight.");
  print("The model is scripted, so you need no key and no network. The rest is real: this process");
  print(
    "serves OpenAI's API and runs the model's tools. Halfway through, the container with the agent's",
  );
  print("files is lost on purpose.");
  if (name !== null) {
    print(`Sandbox: ${name} (${reason})\n`);
    return;
  }
  print(
    "No sandbox works on this machine, so the Python steps are skipped. To run them, install one:",
  );
  for (const line of reason.split("; ")) print(`  ${line}`);
  print("");
}

interface Progress {
  readonly bus: RecordingBus;
  readonly session: Session;
  readonly workspace: OpenAIContainerWorkspaceSection;
}

/** Prints events as they happen, with their effects. */
function printProgress({ bus, session, workspace }: Progress, print: Print): void {
  const logBefore = readFileSync(join(REPOSITORY, "night-log.md"), "utf8");
  let container: string | null = null;
  bus.subscribe("TurnCompleted", () => {
    if (container !== null) return;
    container = workspace.containerId;
    print(`  the workspace runs in ${container}`);
  });
  bus.subscribe("*", (event) => printEvent(event, print));
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "set_vent") return;
    const state = `the vents are at ${session.get(vents).percent} %`;
    print(result.success ? `    now ${state}` : `    rolled back: ${state} again`);
  });
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "report" || result.success) return;
    const isBack = readFileSync(join(workspace.tempDir, LOG), "utf8") === logBefore;
    print(`    rolled back in the workspace: ${LOG} is ${describeClaim(isBack, "restored")}`);
  });
}

/** Reads the synced files that differ from the mounted ones. */
function readSyncedFiles({
  directory,
  added,
  changed,
}: SyncReport): Readonly<Record<string, string>> {
  const paths = [...added, ...changed].sort();
  return Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(directory ?? "", path), "utf8")]),
  );
}
