import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HostFilesystem } from "../files/host-filesystem.ts";
import { LocalProvider } from "../local/provider.ts";
import { OpenAIAdapter } from "../openai/adapter.ts";
import { uploadFile } from "../openai/upload-file.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import type { Citation } from "../tools/citation.ts";
import { endOnSignal, TemporaryFolder } from "./ending.ts";
import { greenhouse, LOG, vents } from "./greenhouse.ts";
import { LOG_BEFORE, layOut, nightModel } from "./greenhouse-night.ts";
import { quickSandbox, type SandboxName } from "./quick-sandbox.ts";
import { type Print, tell, tellAnswer, tellCitations, tellFile } from "./story.ts";

/** How the demo runs. */
export interface DemoOptions {
  readonly json: boolean;
  /** @default "auto" */
  readonly sandbox?: SandboxName;
}

/** Runs the greenhouse agent on a local provider and a folder of its own, and leaves nothing of either. */
export async function demo({ json, sandbox: which = "auto" }: DemoOptions): Promise<void> {
  using folder = new TemporaryFolder("wink-demo-");
  const choosing = quickSandbox(which);
  let running: LocalProvider | null = null;
  const end = async () => {
    await choosing.catch(() => {}); // it is on its way out, whatever it found
    await running?.[Symbol.asyncDispose]();
  };
  using _ = endOnSignal(end, { code: 130 });
  const { sandbox, reason } = await choosing;
  const { web, log, readings } = await layOut(folder.path);
  const dataDir = join(folder.path, "provider");
  await using provider = new LocalProvider({ model: nightModel(), sandbox, dataDir, web });
  running = provider;
  await runOn(provider, { log, readings, json, sandbox: { name: sandbox.name, reason } });
}

interface Night {
  /** The folder of the log. */
  readonly log: string;
  /** The file of the sensors. */
  readonly readings: string;
  readonly sandbox: { readonly name: string; readonly reason: string };
  readonly json: boolean;
}

async function runOn(provider: LocalProvider, { log, readings, sandbox, json }: Night) {
  const bus = recordingBus();
  const session = new Session({ bus }).register(vents);
  const print = json ? () => {} : (line: string) => console.log(line);
  const logFile = join(log, LOG);
  print("A greenhouse that looks after itself at night.");
  print(
    "The model is a script: no key, no network. Everything else is the library at work: OpenAI's",
  );
  print("API is served in this process, and runs the model's code in a sandbox.");
  print(`The sandbox is ${sandbox.name} (${sandbox.reason}).\n`);
  bus.subscribe("*", (event) => tell(event, print));
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "set_vent") return;
    const state = `the vents are at ${session.get(vents).percent} %`;
    print(result.success ? `    now ${state}` : `    rolled back: ${state} again`);
  });
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "report" || result.success) return;
    const isBack = readFileSync(logFile, "utf8") === LOG_BEFORE;
    print(`    rolled back on disk: ${LOG} is ${isBack ? "as it was" : "NOT as it was"}`);
  });

  const adapter = new OpenAIAdapter({ model: "local", clientConfig: { fetch: provider.fetch } });
  const { id: readingsFileId } = await uploadFile(adapter.client, readings);
  await using filesystem = new HostFilesystem(log);
  const prompt = greenhouse({ filesystem, readingsFileId });
  const { output, usage, hostedCalls, citations } = await adapter.evaluate(prompt, { session });
  const files = await download(adapter, citations);
  const logText = await readFile(logFile, "utf8");
  if (json) {
    const told = { sandbox, output, usage, citations, files, hostedCalls };
    const { percent } = session.get(vents);
    const rest = { vents: { percent }, log: logText, events: bus.events };
    console.log(JSON.stringify({ ...told, ...rest }, null, 2));
    return;
  }
  tellAnswer(output, usage, bus.of("TurnCompleted").length, print);
  tellEnd({ citations, files: { ...files, [LOG]: logText } }, print);
}

/** What code made and the answer cites, by name. */
async function download(
  adapter: OpenAIAdapter,
  citations: readonly Citation[],
): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const citation of citations) {
    if (citation.type !== "containerFile") continue;
    files[citation.filename] = new TextDecoder().decode(await adapter.downloadFile(citation));
  }
  return files;
}

interface End {
  readonly citations: readonly Citation[];
  readonly files: Readonly<Record<string, string>>;
}

function tellEnd({ citations, files }: End, print: Print): void {
  tellCitations(citations, print);
  for (const [name, text] of Object.entries(files)) tellFile(name, text, print);
  print(
    "\nThe agent is src/cli/greenhouse.ts in the repository; docs/guides/local.md has a smaller one.",
  );
}
