/** Citations of web pages become footnotes, and a file that the model's code wrote is downloaded. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Citation, codeInterpreterTool, definePrompt, webSearchTool } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

const analyst = definePrompt({
  name: "bakery:prices",
  instructions:
    "Search the web. Cite your sources. Save figures as CSV with Python, and link the file.",
  hostedTools: [webSearchTool(), codeInterpreterTool()],
});

// A scripted model searches these pages and runs real Python. With `--live`, OpenAI's API
// searches the web: set OPENAI_API_KEY.
const pages = await mkdtemp(join(tmpdir(), "wink-example-"));
await writeFile(join(pages, "rye.md"), "# Rye prices\n\nRye flour is at 0.80 a kilo.\n");
const link = "([Rye prices](http://localhost/rye.md))";
const answer = `Rye is at 0.80 ${link}. Here is the table: [CSV](sandbox:/mnt/data/prices.csv).`;
const at = [answer.indexOf(link), answer.indexOf(link) + link.length] as const;
const provider = new LocalProvider({
  web: pages,
  model: scriptedModel([
    [{ search: { web: "price of rye flour" } }],
    [{ code: 'open("/mnt/data/prices.csv", "w").write("flour,price\\nrye,0.80\\n")' }],
    [{ say: answer, citations: [{ hit: 0, at }, { file: "prices.csv" }] }],
  ]),
});
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
try {
  const { text, citations } = await adapter.evaluate(analyst, { input: "What does rye cost?" });
  console.log(addFootnotes(text, citations));
  for (const citation of citations) {
    if (citation.type !== "containerFile") continue;
    const bytes = await adapter.downloadFile(citation);
    console.log(`${citation.filename}: ${JSON.stringify(new TextDecoder().decode(bytes))}`);
  }
} finally {
  await provider.close();
  await rm(pages, { recursive: true });
}

/** Replaces the cited places by numbers, from the end, so that earlier spans stay valid. */
function addFootnotes(text: string, citations: readonly Citation[]): string {
  const urls = [...new Set(citations.flatMap((one) => (one.type === "url" ? [one.url] : [])))];
  let marked = text;
  for (const citation of citations.toReversed()) {
    if (citation.type !== "url" || citation.span === null) continue;
    const [start, end] = citation.span;
    marked = `${marked.slice(0, start)}[${urls.indexOf(citation.url) + 1}]${marked.slice(end)}`;
  }
  return [marked, ...urls.map((url, index) => `[${index + 1}] ${url}`)].join("\n");
}
// prints: Rye is at 0.80 [1]. Here is the table: [CSV](sandbox:/mnt/data/prices.csv).
// prints: [1] http://localhost/rye.md
// prints: prices.csv: "flour,price\nrye,0.80\n"
