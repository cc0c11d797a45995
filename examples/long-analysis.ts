/**
 * Several evaluations in one session and one workspace, with zero data retention. The conversation
 * exceeds its threshold repeatedly. Files that Python creates are synced to the host at the end.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import {
  compactionSlice,
  OpenAIAdapter,
  OpenAIContainerWorkspaceSection,
} from "weakincentives/openai";

const folder = fileURLToPath(new URL("greenhouse", import.meta.url));
const session = new Session();
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: folder, mountPath: "data", maxBytes: 50_000_000 }],
  allowedHostRoots: [folder],
  syncOnCleanup: true,
});

const analyses = [
  {
    task: "Write how much warmer it is inside than outside, hour by hour, to data/difference.csv.",
    code: `
import csv
rows = list(csv.DictReader(open("/mnt/data/data/readings.csv")))
with open("/mnt/data/data/difference.csv", "w") as made:
    for row in rows:
        print(row["time"], float(row["inside"]) - float(row["outside"]), sep=",", file=made)
print(len(rows), "hours")`,
    answer: "The differences are in data/difference.csv.",
  },
  {
    task: "Fit a line to data/difference.csv, and write to data/trend.md how fast it rises.",
    code: `
pairs = [line.split(",") for line in open("/mnt/data/data/difference.csv").read().split()]
hours, values = range(len(pairs)), [float(value) for _, value in pairs]
middle, mean = sum(hours) / len(hours), sum(values) / len(values)
slope = sum((h - middle) * (v - mean) for h, v in zip(hours, values))
slope /= sum((h - middle) ** 2 for h in hours)
print(f"It rises by {slope:.2f} °C an hour.", file=open("/mnt/data/data/trend.md", "w"))
print(f"{slope:.2f} °C an hour, from {len(rows)} readings that were still in memory")`,
    answer: "The trend is in data/trend.md.",
  },
  // One analysis per night, each with long output.
  ...["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"].map((day, night) => ({
    task: `Work out how warm it gets in the night to ${day}, and add it to data/nights.md.`,
    code: `
minutes = [mean + slope * minute / 60 - ${night} / 10 for minute in range(600)]
print(f"${day}: at most {max(minutes):.1f} °C more than outside")
print(f"${day}: {max(minutes):.1f}", file=open("/mnt/data/data/nights.md", "a"))
for minute, value in enumerate(minutes):
    print(f"{18 + minute // 60}:{minute % 60:02d}", "too warm" if value > 20 else "within limits")`,
    answer: `The night to ${day} is in data/nights.md.`,
  })),
];
const model = scriptedModel(
  analyses.flatMap(({ code, answer }) => [[{ code }], [{ say: answer }]]),
);
const provider = new LocalProvider({ model });
try {
  const { url } = await provider.listen();
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    hostedTools: { codeInterpreter: true },
    clientConfig: { baseURL: url, apiKey: "local" },
    // Low for this example. The default is 100,000.
    compaction: { thresholdTokens: 2_500, zdrMode: true },
  });
  session.bus.subscribe("ToolInvoked", ({ result }) =>
    console.log(result.message.trim().split("\n")[0]),
  );
  const held = new Map<string, string>();
  session.bus.subscribe("DataHeld", ({ containerId, until }) => held.set(containerId, until));
  let [saved, cost] = [0, 0];
  session.bus.subscribe("ContextCompacted", ({ tokensBefore, tokensAfter, usage }) => {
    saved += tokensBefore - (tokensAfter ?? 0);
    cost += usage?.totalTokens ?? 0;
    console.log(`compacted ${hundreds(tokensBefore)} tokens to ${hundreds(tokensAfter ?? 0)}`);
  });

  for (const { task } of analyses) {
    const template = new PromptTemplate({
      ns: "analysis",
      key: "task",
      sections: [new MarkdownSection({ key: "task", title: "Task", template: task }), workspace],
    });
    // The conversation continues, so the model knows its earlier work.
    const { text } = await adapter.evaluate(new Prompt(template), { session, continue: true });
    console.log(text);
  }

  const { compactionCount } = session.get(compactionSlice);
  console.log(`${compactionCount} compactions for about ${thousands(cost)} tokens;`);
  console.log(`without them the last request would be longer by about ${thousands(saved)}`);
  for (const until of held.values()) console.log(`one container holds files until ${until}`);
  const { directory, added, changed, deleted } = await workspace.cleanup();
  console.log(`added ${added.join(" and ")}, changed ${changed.length}, deleted ${deleted.length}`);
  console.log((await readFile(join(directory ?? "", "data/trend.md"), "utf8")).trim());
} finally {
  await workspace.cleanup(); // a second call does nothing; synced files stay
  if (workspace.syncedDir) await rm(workspace.syncedDir, { recursive: true });
  await provider[Symbol.asyncDispose]();
}

/** Rounds token counts, which vary slightly because random ids compress differently. */
function hundreds(tokens: number): number {
  return Math.round(tokens / 100) * 100;
}

function thousands(tokens: number): number {
  return Math.round(tokens / 1_000) * 1_000;
}
// prints: 5 hours
// prints: The differences are in data/difference.csv.
// prints: 2.70 °C an hour, from 5 readings that were still in memory
// prints: The trend is in data/trend.md.
// prints: Monday: at most 38.0 °C more than outside
// prints: compacted 3600 tokens to 1400
// prints: The night to Monday is in data/nights.md.
// prints: Tuesday: at most 37.9 °C more than outside
// prints: compacted 4400 tokens to 1500
// prints: The night to Tuesday is in data/nights.md.
// prints: Wednesday: at most 37.8 °C more than outside
// prints: compacted 4500 tokens to 1600
// prints: The night to Wednesday is in data/nights.md.
// prints: Thursday: at most 37.7 °C more than outside
// prints: compacted 4600 tokens to 1700
// prints: The night to Thursday is in data/nights.md.
// prints: Friday: at most 37.6 °C more than outside
// prints: compacted 4700 tokens to 1800
// prints: The night to Friday is in data/nights.md.
// prints: 5 compactions for about 29000 tokens;
// prints: without them the last request would be longer by about 14000
// prints: one container holds files until the workspace is cleaned up
// prints: added data/difference.csv and data/nights.md and data/trend.md, changed 0, deleted 0
// prints: It rises by 2.70 °C an hour.
