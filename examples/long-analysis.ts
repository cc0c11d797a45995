/** One session with many evaluations: compaction, zero data retention, and one workspace for all. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import {
  compactionSlice,
  OpenAIAdapter,
  OpenAIContainerWorkspaceSection,
} from "weakincentives/openai";

const folder = await mkdtemp(join(tmpdir(), "greenhouse-"));
await mkdir(join(folder, "data"));
await writeFile(join(folder, "data/readings.csv"), "18:00,24.5\n20:00,28.5\n21:00,30.0\n");

// A scripted model answers; the container, its files and the Python code are real.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
const analyze = (day: string) => `
runs = globals().get("runs", 0) + 1  # variables survive from one evaluation to the next
warmest = max(float(line.split(",")[1]) for line in open("/mnt/data/data/readings.csv"))
print(f"${day}: {warmest + runs / 2} °C", file=open("/mnt/data/data/nights.md", "a"))
print(f"run {runs} of the same interpreter")
for minute in range(600):
    print(f"{18 + minute // 60}:{minute % 60:02d}", "too warm" if minute % 7 else "within limits")`;
const script = days.flatMap((day) => [
  [{ code: analyze(day) }],
  [{ say: `The night to ${day} is in data/nights.md.` }],
]);
const provider = new LocalProvider({ model: scriptedModel(script) });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({
  model: "gpt-5.2",
  hostedTools: { codeInterpreter: true },
  compaction: { thresholdTokens: 2_500, zdrMode: true }, // low for this example; the default is 100,000
  clientConfig,
});

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ result }) => {
  console.log(result.message.trim().split("\n")[0]);
});
const containers = new Map<string, string>();
session.bus.subscribe("DataHeld", ({ containerId, until }) => containers.set(containerId, until));
const halved: boolean[] = [];
session.bus.subscribe("ContextCompacted", ({ tokensBefore, tokensAfter }) => {
  halved.push(tokensAfter !== null && tokensAfter < tokensBefore / 2);
});
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: join(folder, "data") }],
  allowedHostRoots: [folder],
  syncOnCleanup: true,
  syncDestination: folder,
});
try {
  for (const day of days) {
    const task = `Add the highest temperature of the night to ${day} to data/nights.md.`;
    const sections = [
      new MarkdownSection({ key: "task", title: "Task", template: task }),
      workspace,
    ];
    const template = new PromptTemplate({ ns: "analysis", key: "night", sections });
    // The conversation continues, so the model knows its earlier work.
    const { text } = await adapter.evaluate(new Prompt(template), { session, continue: true });
    console.log(text);
  }

  const { compactionCount } = session.get(compactionSlice);
  console.log(
    `${compactionCount} compactions; each halved the conversation: ${halved.every(Boolean)}`,
  );
  for (const until of containers.values()) console.log(`one container has files until ${until}`);
  const { added } = await workspace.cleanup();
  const nights = await readFile(join(folder, "data/nights.md"), "utf8");
  console.log(`synced ${added.join(", ")} with ${nights.trim().split("\n").length} lines`);
} finally {
  await workspace.cleanup(); // a second call does nothing; synced files stay
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: run 1 of the same interpreter
// prints: The night to Monday is in data/nights.md.
// prints: run 2 of the same interpreter
// prints: The night to Tuesday is in data/nights.md.
// prints: run 3 of the same interpreter
// prints: The night to Wednesday is in data/nights.md.
// prints: run 4 of the same interpreter
// prints: The night to Thursday is in data/nights.md.
// prints: run 5 of the same interpreter
// prints: The night to Friday is in data/nights.md.
// prints: 5 compactions; each halved the conversation: true
// prints: one container has files until the workspace is cleaned up
// prints: synced data/nights.md with 5 lines
