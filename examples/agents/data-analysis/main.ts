/** Analyzes a folder of CSV files with Python in a container, and copies figures and a chart back to the host. */
// needs: pyodide
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  Budget,
  Deadline,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";

const USAGE = `Usage: node main.ts                                         sample data, scripted model
       node main.ts --live [--out FOLDER] [FOLDER [QUESTION]]  your data, OPENAI_API_KEY`;

const report = z.object({
  summary: z.string(),
  figures: z.array(z.object({ name: z.string(), value: z.number(), unit: z.string() })),
  rowsSkipped: z.number(),
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: `Answer the question with Python, from the CSV files in /mnt/data/data. Look at the header and a few
rows of each file first. Skip rows that you cannot read, and count them. Write the numbers behind your
answer to /mnt/data/results/figures.csv and a chart to /mnt/data/results/chart.svg.
Do not change the CSV files. Never state a figure that you did not compute.`,
});

// The scripted model "writes" this program. It really runs, in the same sandbox as a live model's code.
const code = `
import csv, pathlib
totals, skipped = {}, 0
for path in sorted(pathlib.Path("/mnt/data/data").glob("*.csv")):
    for row in csv.DictReader(path.open()):
        try:
            revenue = int(row["loaves"]) * float(row["price"])
        except ValueError:
            skipped += 1
            continue
        totals[row["bread"]] = totals.get(row["bread"], 0) + revenue
results = pathlib.Path("/mnt/data/results")
results.mkdir(exist_ok=True)
lines = [f"{bread},{revenue:.2f}" for bread, revenue in totals.items()]
(results / "figures.csv").write_text("\\n".join(["bread,revenue", *lines]) + "\\n")
bars = [f'<rect y="{20 * at}" height="15" width="{revenue:.0f}"><title>{bread}</title></rect>'
        for at, (bread, revenue) in enumerate(totals.items())]
(results / "chart.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(bars)}</svg>')
print(totals, skipped)`;
const figures = ["rye", "wheat"].map((name, at) => ({ name, value: [148.5, 96][at], unit: "EUR" }));
const summary = "Rye earns about one and a half times as much as wheat.";
const script = scriptedModel([[{ code }], [{ say: { summary, figures, rowsSkipped: 1 } }]]);

const { live, folder, question, out } = await readArguments();
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort(new Error("Interrupted.")));
const provider = new LocalProvider({ model: script });
const sample = await mkdtemp(join(tmpdir(), "data-analysis-"));
try {
  await writeSample(sample);
  await analyze(folder ?? sample);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof PromptEvaluationError && error.partial.text)
    console.error(`The model's last message: ${error.partial.text}`);
  process.exitCode = interrupt.signal.aborted ? 130 : 1;
} finally {
  await provider.close();
  await rm(sample, { recursive: true });
}

async function analyze(hostPath: string): Promise<void> {
  const session = new Session();
  session.bus.subscribe("ToolInvoked", ({ name, result }) =>
    console.log(`${name}: ${result.message.trim()}`),
  );
  const workspace = new OpenAIContainerWorkspaceSection({
    session,
    mounts: [{ hostPath, mountPath: "data", includeGlob: ["*.csv"], maxBytes: 50_000_000 }],
    allowedHostRoots: [hostPath],
    syncPolicy: "eachTurn", // a lost container loses no result of earlier turns
    syncDestination: join(sample, "synced"),
    deleteOnCleanup: true,
  });
  try {
    const adapter = new OpenAIAdapter({
      model: "gpt-5.2",
      hostedTools: { codeInterpreter: true },
      clientConfig: live ? {} : { fetch: provider.fetch },
    });
    const sections = [task, workspace];
    const template = new PromptTemplate({ ns: "analysis", key: "csv", sections, output: report });
    const { output, usage } = await adapter.evaluate(new Prompt(template), {
      session,
      input: question,
      budget: new Budget({ maxTotalTokens: 300_000 }),
      deadline: Deadline.after(10 * 60_000),
      signal: interrupt.signal,
    });
    console.log(output.summary);
    for (const { name, value, unit } of output.figures) console.log(`- ${name}: ${value} ${unit}`);
    if (output.rowsSkipped > 0) console.log(`Rows that could not be read: ${output.rowsSkipped}`);
    if (live) console.log(`${usage.totalTokens} tokens`);
  } finally {
    const { added, failed } = await workspace.cleanup();
    for (const path of added) {
      if (live) await cp(join(sample, "synced", path), join(out, path));
      console.log(`made ${live ? join(out, path) : path}`);
    }
    for (const { path, reason } of failed) console.error(`${path}: ${reason}`);
  }
}

async function readArguments() {
  const options = {
    live: { type: "boolean", default: false },
    out: { type: "string", default: "analysis" },
  } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [path, question = "Which bread earns most?", ...rest] = positionals;
    if (rest.length > 0) throw new Error("Put the question in quotes.");
    if (path && !values.live) throw new Error("Add --live to analyze your own files.");
    const names = path ? await readdir(path, { recursive: true }) : [];
    if (path && !names.some((name) => name.endsWith(".csv")))
      throw new Error(`${path} has no CSV files.`);
    return { live: values.live, folder: path && resolve(path), question, out: resolve(values.out) };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}

async function writeSample(sample: string): Promise<void> {
  await writeFile(join(sample, "north.csv"), "bread,loaves,price\nrye,20,4.50\nwheat,30,3.20\n");
  await writeFile(join(sample, "south.csv"), "bread,loaves,price\nrye,13,4.50\nwheat,n/a,3.20\n");
}
// prints: code_interpreter: {'rye': 148.5, 'wheat': 96.0} 1
// prints: Rye earns about one and a half times as much as wheat.
// prints: - rye: 148.5 EUR
// prints: - wheat: 96 EUR
// prints: Rows that could not be read: 1
// prints: made results/chart.svg
// prints: made results/figures.csv
