/** OpenAI's API on your machine: no key, no network, and the hosted tools really run. */
// needs: openai
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  WebSearchSection,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, uploadFile } from "weakincentives/openai";
import * as z from "zod";

const folder = await mkdtemp(join(tmpdir(), "wink-example-"));
await writeFile(join(folder, "flour.md"), "# Flour prices\n\nRye flour is at 0.80 a kilo.\n");
await writeFile(join(folder, "sales.csv"), "day,loaves\nMon,12\nTue,30\n");

// One inner array per model call. The model is called again with the results of hosted tools.
// With `--live`, OpenAI's API answers instead: set OPENAI_API_KEY.
const isLive = process.argv.includes("--live");
const model = scriptedModel([
  [{ search: { web: "price of rye flour" } }],
  [
    {
      code: `
import csv, glob
rows = csv.DictReader(open(glob.glob("/mnt/data/*sales.csv")[0]))
kilos = sum(int(row["loaves"]) for row in rows) / 2
print(kilos, "kg", file=open("/mnt/data/order.txt", "w"))
print(kilos * 0.8)`,
    },
  ],
  [{ say: { kilos: 21, cost: 16.8 }, citations: [{ hit: 0 }, { file: "order.txt" }] }],
  [{ say: "Twenty-one kilos." }],
]);
const provider = new LocalProvider({ model, web: folder });
try {
  const clientConfig = isLive ? {} : { fetch: provider.fetch };
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
  const { id } = await uploadFile(adapter.client, join(folder, "sales.csv"));
  const python = codeInterpreterTool({ container: { type: "auto", fileIds: [id] } });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "A loaf takes half a kilo of rye. Order for what sales.csv says, and name the cost.",
    hostedTools: [python],
  });
  const output = z.object({ kilos: z.number(), cost: z.number() });
  const sections = [task, new WebSearchSection()];
  const prompt = new Prompt(new PromptTemplate({ ns: "bakery", key: "flour", sections, output }));

  const response = await adapter.evaluate(prompt, { session: new Session() });
  console.log(`${response.output.kilos} kg for ${response.output.cost}`);
  console.log(`Python printed ${response.hostedOutputs.get(python)?.stdout.trim()}`);
  for (const citation of response.citations) {
    if (citation.type === "url") console.log(`cites ${citation.title}`);
    else console.log(`made ${citation.filename}: ${await text(adapter.downloadFile(citation))}`);
  }

  // The same provider on a socket, for any SDK; this is OpenAI's official client.
  const { url } = await provider.listen();
  const client = isLive ? new OpenAI() : new OpenAI({ baseURL: url, apiKey: "local" });
  const answer = await client.responses.create({ model: "gpt-5.2", input: "How much rye again?" });
  console.log(answer.output_text);
} finally {
  await provider.close();
  await rm(folder, { recursive: true });
}

async function text(bytes: Promise<Uint8Array>): Promise<string> {
  return new TextDecoder().decode(await bytes).trim();
}
// prints: 21 kg for 16.8
// prints: Python printed 16.8
// prints: cites Flour prices
// prints: made order.txt: 21.0 kg
// prints: Twenty-one kilos.
