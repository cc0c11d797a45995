/** Uses three hosted tools in one evaluation: web search, code interpreter and apply_patch. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  applyPatchTool,
  codeInterpreterTool,
  definePrompt,
  Session,
  webSearchTool,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

const notes = new InMemoryFilesystem();
const search = webSearchTool({ domainFilter: { allowed: ["weather.example"] } });
const python = codeInterpreterTool({ timeoutSeconds: 20 });
const patch = applyPatchTool({}, { filesystem: notes }); // applied in this process
const gardener = definePrompt({
  name: "gardener",
  instructions:
    "Look up the forecast, compute the liters of water for 8 beds (3 liters each if it is dry), " +
    "and write plan.txt with a patch.",
  hostedTools: [search, python, patch],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const model = scriptedModel([
  [{ search: { web: "forecast Leiden" } }],
  [{ code: "print(8 * 3)" }],
  [{ patch: [{ type: "create_file", path: "plan.txt", diff: "+24 liters\n" }] }],
  [{ say: "It stays dry: 24 liters.", citations: [{ hit: 0 }] }],
]);
const web = await mkdtemp(join(tmpdir(), "pages-"));
await mkdir(join(web, "weather.example"));
await writeFile(
  join(web, "weather.example", "leiden.md"),
  "# Forecast for Leiden\nDry, 24 degrees.",
);
const provider = new LocalProvider({ model, web });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ name, result }) =>
  console.log(`${name}: ${result.success}`),
);
try {
  const { text, hostedOutputs } = await adapter.evaluate(gardener, { session });
  console.log(text);
  console.log(`Sources: ${hostedOutputs.get(search)?.sourceUrls.join(", ")}`);
  console.log(`Python: ${hostedOutputs.get(python)?.stdout.trim()}`);
  console.log(`plan.txt: ${(await notes.readText("plan.txt")).trim()}`);
} finally {
  await provider.close();
  await rm(web, { recursive: true });
}
// prints: web_search: true
// prints: code_interpreter: true
// prints: apply_patch: true
// prints: It stays dry: 24 liters.
// prints: Sources: https://weather.example/leiden.md
// prints: Python: 24
// prints: plan.txt: 24 liters
