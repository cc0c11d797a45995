/** Uploads a file for Python, downloads the file that Python wrote, and continues the conversation. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeInterpreterTool, definePrompt, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, uploadFile } from "weakincentives/openai";

// A scripted model answers; the files and the Python code are real.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const code = `
import csv, glob
rows = list(csv.DictReader(open(glob.glob("/mnt/data/*sales.csv")[0])))
with open("/mnt/data/totals.csv", "w") as totals:
    for month in ("April", "May"):
        total = sum(int(row["loaves"]) for row in rows if row["month"] == month)
        print(month, total, sep=",", file=totals)`;
const model = scriptedModel([
  [{ code }],
  [{ say: "The totals are in totals.csv.", citations: [{ file: "totals.csv" }] }],
  [{ say: "May was best." }],
]);
const provider = new LocalProvider({ model });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });

const folder = await mkdtemp(join(tmpdir(), "sales-"));
try {
  const path = join(folder, "sales.csv");
  await writeFile(path, "month,loaves\nApril,310\nApril,290\nMay,340\nMay,355\n");
  const { id } = await uploadFile(adapter.client, path, { expiresAfterSeconds: 3_600 });

  const analyst = definePrompt({
    name: "bakery:analyst",
    instructions: "You analyze the sales of a bakery with Python. Link the files that you write.",
    hostedTools: [codeInterpreterTool({ container: { type: "auto", fileIds: [id] } })],
  });
  const session = new Session();
  const input = "Sum sales.csv by month into totals.csv.";
  const { citations } = await adapter.evaluate(analyst, { session, input });
  for (const citation of citations) {
    if (citation.type !== "containerFile") continue;
    const bytes = await adapter.downloadFile(citation);
    console.log(`${citation.filename}: ${JSON.stringify(new TextDecoder().decode(bytes))}`);
  }

  const next = { session, input: "Which month was best?", continue: true };
  console.log((await adapter.evaluate(analyst, next)).text);
} finally {
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: totals.csv: "April,600\nMay,695\n"
// prints: May was best.
