/** Prints the files and tool outputs that an evaluation sent to its provider, and whether any of it is stored. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeInterpreterTool, definePrompt, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

// A file that the code may read, and a secret next to it.
const folder = await mkdtemp(join(tmpdir(), "sales-"));
const sales = "month,sales\njan,120\nfeb,130\n";
await writeFile(join(folder, "sales.csv"), sales);
await writeFile(join(folder, ".env"), "CRM_KEY=example\n");

const readPlan = new Tool({
  name: "read_plan",
  description: "Returns the sales plan of the quarter.",
  params: null,
  effects: "none",
  handler: () => ToolResult.ok({ q1: 400 }),
});

// A scripted model answers; the container, its files and the Python code are real.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const code = 'print(open("/mnt/data/data/sales.csv").read())';
const provider = new LocalProvider({
  model: scriptedModel([
    [{ call: { name: "read_plan", args: {}, callId: "call_plan" } }],
    [{ code }],
    [{ say: "250 of 400 are sold." }],
  ]),
});
const adapter = new OpenAIAdapter({
  model: "gpt-5.2",
  compaction: { zdrMode: true }, // the provider must keep nothing
  clientConfig: process.argv.includes("--live") ? {} : { fetch: provider.fetch },
});
const mounts = [{ hostPath: folder, mountPath: "data" }];
const analyst = definePrompt({
  name: "sales:analyst",
  instructions: "Compare the sales in data/ with the plan.",
  tools: [readPlan],
  hostedTools: [
    codeInterpreterTool({
      container: { type: "auto", hostMounts: mounts, allowedHostRoots: [folder] },
    }),
  ],
});

try {
  const { text, egress } = await adapter.evaluate(analyst);
  console.log(text);
  for (const { endpoint, files, toolOutputs } of egress.requests) {
    const [, shown = ""] = /^(\w+ \/\w+)/.exec(endpoint) ?? [];
    const sent = [...files.map(({ mount, path }) => `${mount}/${path}`), ...toolOutputs];
    if (sent.length > 0) console.log(`${shown} sent ${sent.join(", ")}`);
  }
  const [file] = egress.requests.flatMap(({ files }) => files);
  const hash = createHash("sha256").update(sales).digest("hex");
  console.log(`sales.csv left as it is on disk: ${file?.sha256 === hash}`);
  console.log(`${egress.requests.at(-1)?.endpoint.split("/", 2).join("/")} was the last request`);
  console.log(`Verdict: ${egress.verdict}`);
} finally {
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: 250 of 400 are sold.
// prints: POST /containers sent data/sales.csv
// prints: POST /responses sent call_plan
// prints: sales.csv left as it is on disk: true
// prints: DELETE /containers was the last request
// prints: Verdict: nothing stored
