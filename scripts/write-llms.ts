/**
 * Writes llms.txt, the map of the documentation for language models, and llms-full.txt, the pages themselves.
 * `--check` compares them with the pages instead.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createFullText, createMap } from "./llms/create-llms.ts";

const read = (path: string) => readFileSync(path, "utf8");
const files = { "llms.txt": createMap(read("README.md")), "llms-full.txt": createFullText(read) };
for (const [name, text] of Object.entries(files)) {
  if (!process.argv.includes("--check")) writeFileSync(name, text);
  else if (read(name) !== text) {
    console.error(`${name} differs from the pages. Run npm run llms.`);
    process.exitCode = 1;
  }
}
