/** Combines a custom tool with hosted tools: it writes rows to the workspace, where Python reads them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
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

const database = resource<DatabaseSync>("database");

const query = new Tool({
  name: "run_query",
  description: "Runs a SELECT on the harvest database, and writes its rows to a file as JSON.",
  params: z.object({ sql: z.string(), file: z.string() }),
  handler: async ({ sql, file }, { resources, filesystem }) => {
    const rows = resources.get(database).prepare(sql).all();
    await filesystem?.writeText(file, JSON.stringify(rows));
    return ToolResult.ok({ rowCount: rows.length }, `${rows.length} rows are in ${file}.`);
  },
});

const sql = "SELECT day, sum(kilos) AS kilos FROM harvest GROUP BY day";
const model = scriptedModel([
  [{ search: { web: "price of tomatoes" } }],
  [
    { say: "Tomatoes are at 2.50 a kilo.", citations: [{ hit: 0 }] },
    { call: { name: "run_query", args: { sql, file: "greenhouse/harvest.json" } } },
  ],
  [
    {
      code: `
import csv, json
kilos = sum(row["kilos"] for row in json.load(open("/mnt/data/greenhouse/harvest.json")))
inside = [float(row["inside"]) for row in csv.DictReader(open("/mnt/data/greenhouse/readings.csv"))]
print(f"{kilos} kg, {kilos * 2.5:.2f} at 2.50 a kilo, {max(inside)} °C at most")`,
    },
  ],
  [{ say: { kilos: 31, worth: 77.5, warmest: 31.5 } }],
]);

const web = await mkdtemp(join(tmpdir(), "wink-example-"));
await writeFile(join(web, "market.md"), "# The market\n\nTomatoes are at 2.50 a kilo.\n");
const provider = new LocalProvider({ model, web });
const folder = fileURLToPath(new URL("greenhouse", import.meta.url));
const session = new Session();
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: folder }],
  allowedHostRoots: [folder],
});
try {
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    hostedTools: { codeInterpreter: true, webSearch: true },
    clientConfig: { fetch: provider.fetch },
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "What is this week's harvest worth, and how warm did it get? Use SQL and Python.",
    tools: [query],
  });
  const output = z.object({ kilos: z.number(), worth: z.number(), warmest: z.number() });
  const sections = [task, workspace];
  const template = new PromptTemplate({ ns: "greenhouse", key: "harvest", sections, output });

  session.bus.subscribe("ToolInvoked", ({ name, result, origin }) =>
    console.log(`${name} ran ${origin ? "there" : "here"}: ${result.message.trim()}`),
  );
  const resources = new ResourceRegistry().bind(database, harvest);
  const response = await adapter.evaluate(new Prompt(template), { session, resources });
  const { kilos, worth, warmest } = response.output;
  console.log(`${kilos} kg are worth ${worth}; it was ${warmest} °C at most`);
  for (const citation of response.citations) {
    if (citation.type === "url") console.log(`cites ${citation.title}`);
  }
} finally {
  await workspace.cleanup();
  await provider[Symbol.asyncDispose]();
  await rm(web, { recursive: true });
}

/** Created on first use and closed after the evaluation. */
function harvest(): DatabaseSync {
  const made = new DatabaseSync(":memory:");
  made.exec(`CREATE TABLE harvest (day TEXT, crop TEXT, kilos REAL);
    INSERT INTO harvest VALUES ('Mon', 'tomatoes', 12), ('Mon', 'more', 4), ('Tue', 'tomatoes', 15)`);
  return made;
}
// prints: web_search ran there: Searched: price of tomatoes
// prints: run_query ran here: 2 rows are in greenhouse/harvest.json.
// prints: code_interpreter ran there: 31 kg, 77.50 at 2.50 a kilo, 31.5 °C at most
// prints: 31 kg are worth 77.5; it was 31.5 °C at most
// prints: cites The market
