/** Checks the imports of `src` against `modules.jsonc`; part of `npm run lint`. */
import { readFileSync } from "node:fs";
import { checkModules, parseModuleRules } from "./layout/check-modules.ts";
import { readImportGraph } from "./layout/import-graph.ts";

const graph = readImportGraph("src");
const problems = checkModules(graph, parseModuleRules(readFileSync("modules.jsonc", "utf8")));
for (const problem of problems) console.error(`modules.jsonc: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else console.log(`Checked the imports of ${graph.size} files against modules.jsonc.`);
