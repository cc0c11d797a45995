import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { digestFiles, treeDigest } from "../../files/digests/file-digests.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import { LocalProvider } from "../../local/provider.ts";
import type { Sandbox } from "../../local/sandbox/sandbox.ts";
import { OpenAIAdapter } from "../../openai/adapter.ts";
import type { OpenAIContainerWorkspaceSection } from "../../openai/workspace/container-workspace-section.ts";
import { Session } from "../../session/session.ts";
import { type RecordingBus, recordingBus } from "../../testing/recording-bus.ts";
import { endOnSignal, removeAtExit, type Stoppable, TemporaryFolder } from "../ending.ts";
import { type FoundSandbox, findSandbox, type SandboxName } from "../find-sandbox.ts";
import { greenhouse, greenhouseFiles, LOG, vents } from "./greenhouse.ts";
import { layOutWeb, nightModel } from "./greenhouse-night.ts";
import {
  type Print,
  tell,
  tellAnswer,
  tellCitations,
  tellFile,
  tellMount,
  tellSync,
  whether,
} from "./story.ts";

/** How the demo runs. */
export interface DemoOptions {
  readonly json: boolean;
  /** @default "auto" */
  readonly sandbox?: SandboxName;
  /** The sandboxes to choose from. @default all that this library has */
  readonly candidates?: readonly Sandbox[];
}

/** Beside what this file is compiled to as well as beside its source. */
const REPOSITORY = fileURLToPath(new URL("../../../examples/greenhouse", import.meta.url));

/** Runs the greenhouse agent on a local provider and a folder of its own, and leaves nothing of either. */
export async function demo(
  { json, sandbox: which = "auto", candidates }: DemoOptions,
  host: Stoppable = process,
): Promise<void> {
  using folder = new TemporaryFolder("wink-demo-");
  const stop = new AbortController();
  const [web, dataDir] = [join(folder.path, "web"), join(folder.path, "provider")];
  await layOutWeb(web);
  const sandbox = await findSandbox(which, candidates);
  const hasPython = sandbox.name !== null;
  const model = nightModel({ hasPython });
  await using provider = new LocalProvider({ model, sandbox: which, dataDir, web });
  const night = runOn(provider, { folder: folder.path, json, signal: stop.signal, sandbox });
  const end = async () => {
    stop.abort();
    await provider[Symbol.asyncDispose]();
    await night.catch(() => {}); // it was stopped, and has cleaned up
  };
  using _ = endOnSignal(end, { code: 130, host });
  await night.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
}

interface Night {
  /** For everything that is temporary. */
  readonly folder: string;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly sandbox: FoundSandbox;
}

async function runOn(provider: LocalProvider, night: Night): Promise<void> {
  const { folder, json, signal, sandbox } = night;
  const bus = recordingBus();
  const session = new Session({ bus }).register(vents);
  const workspace = greenhouseFiles({
    session,
    repository: REPOSITORY,
    syncDestination: join(folder, "synced"),
    hasPython: sandbox.name !== null,
  });
  const { tempDir } = workspace;
  using _ = removeAtExit(dirname(tempDir));
  const before = treeDigest(await digestFiles(REPOSITORY));
  const print = json ? () => {} : (line: string) => console.log(line);
  tellStart(sandbox, print);
  tellMount(workspace.mountPreviews, print);
  tellNight({ bus, session, workspace }, print);

  const adapter = new OpenAIAdapter({ model: "local", clientConfig: { fetch: provider.fetch } });
  const { output, usage, hostedCalls, citations } = await adapter
    .evaluate(greenhouse(workspace), { session, signal })
    .finally(() => workspace.cleanup());
  const synced = await workspace.cleanup(); // it was, and tells again what came of it
  const isAsBefore = treeDigest(await digestFiles(REPOSITORY)) === before;
  const made = filesOf(synced);
  if (json) {
    const { percent } = session.get(vents);
    const told = { sandbox, mounts: workspace.mountPreviews, output, usage, citations, synced };
    const rest = { isAsBefore, files: made, vents: { percent }, hostedCalls, events: bus.events };
    console.log(JSON.stringify({ ...told, ...rest }, null, 2));
    return;
  }
  tellAnswer(output, usage, bus.of("TurnCompleted").length, print);
  tellCitations(citations, print);
  tellSync(synced, print);
  print(`  examples/greenhouse, which was mounted, is ${whether(isAsBefore, "as it was")}`);
  print(`  the copy of it in ${tempDir} is ${whether(!existsSync(tempDir), "gone")}`);
  for (const [name, text] of Object.entries(made)) tellFile(name, text, print);
  print(
    "\nThe agent is src/cli/demo/greenhouse.ts in the repository; docs/guides/workspaces.md has smaller ones.",
  );
}

function tellStart({ name, reason }: FoundSandbox, print: Print): void {
  print("A greenhouse that looks after itself at night.");
  print(
    "The model is a script, so no key and no network are needed. Everything else is real: this",
  );
  print(
    "process serves OpenAI's API and runs the model's tools. Halfway, the container that holds the",
  );
  print("agent's files is lost on purpose.");
  if (name !== null) {
    print(`The sandbox is ${name} (${reason}).\n`);
    return;
  }
  print(
    "No sandbox works here, so the steps that run Python are skipped. To see them, install one:",
  );
  for (const line of reason.split("; ")) print(`  ${line}`);
  print("");
}

interface Told {
  readonly bus: RecordingBus;
  readonly session: Session;
  readonly workspace: OpenAIContainerWorkspaceSection;
}

/** What happens, while it does, with a look at what came of it. */
function tellNight({ bus, session, workspace }: Told, print: Print): void {
  const logBefore = readFileSync(join(REPOSITORY, "night-log.md"), "utf8");
  let container: string | null = null;
  bus.subscribe("TurnCompleted", () => {
    if (container !== null) return;
    container = workspace.containerId;
    print(`  the workspace is in ${container}`);
  });
  bus.subscribe("*", (event) => tell(event, print));
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "set_vent") return;
    const state = `the vents are at ${session.get(vents).percent} %`;
    print(result.success ? `    now ${state}` : `    rolled back: ${state} again`);
  });
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "report" || result.success) return;
    const isBack = readFileSync(join(workspace.tempDir, LOG), "utf8") === logBefore;
    print(`    rolled back in the workspace: ${LOG} is ${whether(isBack, "as it was")}`);
  });
}

/** What was brought back and is not as it was mounted. */
function filesOf({ directory, added, changed }: SyncReport): Readonly<Record<string, string>> {
  const paths = [...added, ...changed].sort();
  return Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(directory ?? "", path), "utf8")]),
  );
}
