/**
 * Prints the files of `src` that one evaluation enters, in the order in which it comes to them:
 * `npm run trace -- openai` or `npm run trace -- claude` (which needs `npm run claude` once). A file
 * is entered when one of its functions is called. The model is a script behind the local provider,
 * whose own files do not count. `--json` prints JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EnteredFiles } from "./trace/entered-files.ts";

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const [provider = "openai"] = positionals;
const root = new URL("../src/", import.meta.url).href;
const start = () => new EnteredFiles(root, ["local", "testing", "cli"]);
const trace = await findTrace(provider);
// A separate folder, because leftovers of other runs in the common one would be part of the trace.
const temporary = mkdtempSync(join(tmpdir(), "wink-trace-"));
process.env["TMPDIR"] = temporary;
const parts = await trace(start).finally(() => rmSync(temporary, { recursive: true, force: true }));
const count = parts.reduce((sum, { files }) => sum + files.length, 0);

if (values.json) console.log(JSON.stringify({ provider, count, parts }, null, 2));
else printParts();

async function findTrace(name: string) {
  if (name === "openai") return (await import("./trace/trace-openai.ts")).traceOpenAI;
  if (name === "claude") return (await import("./trace/trace-claude.ts")).traceClaude;
  console.error(`There is no trace of "${name}". Use openai or claude.`);
  process.exit(2);
}

function printParts(): void {
  for (const { until, files } of parts) {
    console.log(`until ${until}`);
    for (const file of files) console.log(`  ${file}`);
  }
  console.log(`${count} files on ${provider}`);
}
