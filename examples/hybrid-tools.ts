/** Combines your own tool with hosted tools: it writes rows to the workspace, where Python reads them. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  ResourceRegistry,
  resource,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";

// The files of the workspace, and the pages of the scripted model's web.
const folder = await mkdtemp(join(tmpdir(), "harvest-"));
const [greenhouse, web] = [join(folder, "greenhouse"), join(folder, "web")];
await mkdir(greenhouse);
await mkdir(web);
await writeFile(join(greenhouse, "readings.csv"), "time,inside\n20:00,28.5\n22:00,31.5\n");
await writeFile(join(web, "market.md"), "# The market\n\nTomatoes are at 2.50 a kilo.\n");

const database = resource<DatabaseSync>("database");

/** Creates the database on first use. It is closed after the evaluation. */
function openDatabase(): DatabaseSync {
  const harvest = new DatabaseSync(":memory:");
  harvest.exec(`CREATE TABLE harvest (day TEXT, kilos REAL);
    INSERT INTO harvest VALUES ('Mon', 12), ('Mon', 4), ('Tue', 15)`);
  return harvest;
}

const query = new Tool({
  name: "run_query",
  description:
    "Runs a SELECT on the table harvest (day, kilos), and writes its rows to a file as JSON.",
  params: z.object({ sql: z.string(), file: z.string() }),
  handler: async ({ sql, file }, { resources, filesystem }) => {
    const rows = resources.get(database).prepare(sql).all();
    await filesystem?.writeText(file, JSON.stringify(rows));
    return ToolResult.ok({ rowCount: rows.length }, `${rows.length} rows are in ${file}.`);
  },
});

// A scripted model answers; the tools, the container and the Python code are real.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const sql = "SELECT day, sum(kilos) AS kilos FROM harvest GROUP BY day";
const code = `
import csv, json
kilos = sum(row["kilos"] for row in json.load(open("/mnt/data/greenhouse/harvest.json")))
inside = [float(row["inside"]) for row in csv.DictReader(open("/mnt/data/greenhouse/readings.csv"))]
print(f"{kilos} kg, {kilos * 2.5:.2f} at 2.50 a kilo, {max(inside)} °C at most")`;
const model = scriptedModel([
  [{ search: { web: "price of tomatoes" } }],
  [
    { say: "Tomatoes are at 2.50 a kilo.", citations: [{ hit: 0 }] },
    { call: { name: "run_query", args: { sql, file: "greenhouse/harvest.json" } } },
  ],
  [{ code }],
  [{ say: { kilos: 31, worth: 77.5, warmest: 31.5 } }],
]);
const provider = new LocalProvider({ model, web });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const hostedTools = { codeInterpreter: true, webSearch: true };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", hostedTools, clientConfig });

const session = new Session();
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: greenhouse }],
  allowedHostRoots: [folder],
});
try {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "What is this week's tomato harvest worth, and how warm did it get in greenhouse/?",
    tools: [query],
  });
  const output = z.object({ kilos: z.number(), worth: z.number(), warmest: z.number() });
  const sections = [task, workspace];
  const template = new PromptTemplate({ ns: "greenhouse", key: "harvest", sections, output });

  session.bus.subscribe("ToolInvoked", ({ name, result, origin }) =>
    console.log(`${name} ran ${origin ? "there" : "here"}: ${result.message.trim()}`),
  );
  const resources = new ResourceRegistry().bind(database, openDatabase);
  const response = await adapter.evaluate(new Prompt(template), { session, resources });
  const { kilos, worth, warmest } = response.output;
  console.log(`${kilos} kg are worth ${worth}; it was ${warmest} °C at most`);
  for (const citation of response.citations) {
    if (citation.type === "url") console.log(`cites ${citation.title}`);
  }
} finally {
  await workspace.cleanup();
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: web_search ran there: Searched: price of tomatoes
// prints: run_query ran here: 2 rows are in greenhouse/harvest.json.
// prints: code_interpreter ran there: 31 kg, 77.50 at 2.50 a kilo, 31.5 °C at most
// prints: 31 kg are worth 77.5; it was 31.5 °C at most
// prints: cites The market
