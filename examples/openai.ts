/** An agent on OpenAI with its own tool, web search, Python and a typed answer. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  codeInterpreterTool,
  definePrompt,
  Session,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const sales = new Tool({
  name: "read_sales",
  description: "Reads how many loaves were sold in one month.",
  params: z.object({ month: z.string() }),
  handler: ({ month }) => ToolResult.ok({ month, loaves: 1_200 }),
});
const python = codeInterpreterTool({ container: { type: "auto", memoryLimit: "4g" } });
const search = webSearchTool({ domainFilter: { allowed: ["bread.example"] } });
const analyst = definePrompt({
  name: "bakery:analyst",
  instructions: "Compute yearly rates with Python, and compare them with the forecast on the web.",
  userTemplate: "How were the sales of $month?",
  params: z.object({ month: z.string() }),
  tools: [sales],
  hostedTools: [python, search],
  output: z.object({ yearlyRate: z.number(), verdict: z.string() }),
});

// A scripted model answers; Python and the search over a folder of pages are real.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const web = await mkdtemp(join(tmpdir(), "web-"));
await mkdir(join(web, "bread.example"));
await writeFile(join(web, "bread.example/forecast.md"), "# Forecast\n\n14,000 loaves a year.\n");
const model = scriptedModel([
  [{ call: { name: "read_sales", args: { month: "May" } } }],
  [{ search: { web: "forecast of loaves a year" } }],
  [{ code: "print(1_200 * 12)" }],
  [{ say: { yearlyRate: 14_400, verdict: "above the forecast" }, citations: [{ hit: 0 }] }],
]);
const provider = new LocalProvider({ model, web });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ name, origin }) =>
  console.log(`${name} ran ${origin ? `at ${origin.provider}` : "here"}`),
);
try {
  const response = await adapter.evaluate(analyst.bind({ month: "May" }), { session });
  console.log(`${response.output.yearlyRate} a year: ${response.output.verdict}`);
  console.log(`Python printed ${response.hostedOutputs.get(python)?.stdout.trim()}`);
  for (const citation of response.citations)
    if (citation.type === "url") console.log(`cites ${citation.url}`);
} finally {
  await provider.close();
  await rm(web, { recursive: true });
}
// prints: read_sales ran here
// prints: web_search ran at openai
// prints: code_interpreter ran at openai
// prints: 14400 a year: above the forecast
// prints: Python printed 14400
// prints: cites https://bread.example/forecast.md
