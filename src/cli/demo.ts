import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HostFilesystem } from "../files/host-filesystem.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { greenhouse, greenhouseModel, LOG, LOG_BEFORE, vents } from "./greenhouse.ts";
import { tell, tellAnswer } from "./story.ts";

/** Runs the greenhouse agent on a folder of its own, prints what happened, and removes the folder. */
export async function demo({ json }: { readonly json: boolean }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "wink-demo-"));
  try {
    await writeFile(join(folder, LOG), LOG_BEFORE);
    await runIn(folder, json);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runIn(folder: string, json: boolean): Promise<void> {
  const bus = recordingBus();
  const session = new Session({ bus }).register(vents);
  const print = json ? () => {} : (line: string) => console.log(line);

  print("A greenhouse that looks after itself at night.");
  print("The model is a script: no key, no network. Everything else is the library at work.\n");
  bus.subscribe("*", (event) => tell(event, print));
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "set_vent") return;
    const state = `the vents are at ${session.get(vents).percent} %`;
    print(result.success ? `    now ${state}` : `    rolled back: ${state} again`);
  });
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "report" || result.success) return;
    const isBack = readFileSync(join(folder, LOG), "utf8") === LOG_BEFORE;
    print(`    rolled back on disk: ${LOG} is ${isBack ? "as it was" : "NOT as it was"}`);
  });

  await using filesystem = new HostFilesystem(folder);
  const response = await greenhouseModel().evaluate(greenhouse(filesystem), { session });
  const { output, usage, hostedCalls } = response;
  const log = await readFile(join(folder, LOG), "utf8");
  if (json) {
    const { percent } = session.get(vents);
    const told = { output, usage, hostedCalls, vents: { percent }, log, events: bus.events };
    console.log(JSON.stringify(told, null, 2));
    return;
  }
  tellAnswer(output, usage, bus.of("TurnCompleted").length, print);
  print(`\n${LOG} now reads:\n${log.replace(/^/gm, "  ").trimEnd()}`);
  print(
    "\nThe agent itself is src/cli/greenhouse.ts in the repository; the README has a smaller one.",
  );
}
