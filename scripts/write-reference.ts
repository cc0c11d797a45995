/**
 * Writes docs/reference: one page per entry point, from the doc comments, with TypeDoc.
 *
 *   npm ci --ignore-scripts --prefix scripts/reference   installs TypeDoc
 *   node scripts/write-reference.ts                      writes the pages
 *   node scripts/write-reference.ts --check              fails if a page differs from its sources
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createReferenceIndex,
  repairAnchors,
  toReferencePage,
} from "./reference/reference-page.ts";

const OUTPUT = "docs/reference";
const TYPEDOC = "scripts/reference/node_modules/typedoc/bin/typedoc";

if (!existsSync(TYPEDOC)) {
  console.error(
    "TypeDoc is not installed. Run npm ci --ignore-scripts --prefix scripts/reference.",
  );
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "wink-reference-"));
try {
  const pages = generatePages(folder);
  if (process.argv.includes("--check")) checkPages(pages);
  else writePages(pages);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs TypeDoc and returns the pages by name. */
function generatePages(out: string): ReadonlyMap<string, string> {
  const args = [TYPEDOC, "--options", "scripts/reference/typedoc.json", "--out", out];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const problems = `${stdout}${stderr}`.split("\n").filter((line) => /\[error\]/.test(line));
  if (status !== 0 || problems.length > 0) throw new Error(`TypeDoc failed:\n${stdout}${stderr}`);
  const names = readdirSync(out).filter((name) => name.endsWith(".md") && name !== "README.md");
  const pages = names.sort().map((name) => {
    const module = name.replace(/\.md$/, "");
    const file = module === "index" ? "src/index.ts" : `src/${module}/index.ts`;
    const markdown = readFileSync(join(out, name), "utf8");
    return toReferencePage({ module, markdown, source: readFileSync(file, "utf8") });
  });
  const all = [createReferenceIndex(pages), ...repairAnchors(pages)];
  return new Map(all.map(({ name, text }) => [name, text]));
}

function writePages(pages: ReadonlyMap<string, string>): void {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  for (const [name, text] of pages) writeFileSync(join(OUTPUT, name), text);
  console.log(`${OUTPUT}: ${pages.size} pages`);
}

function checkPages(pages: ReadonlyMap<string, string>): void {
  const written = existsSync(OUTPUT) ? readdirSync(OUTPUT) : [];
  const stale = [...pages].filter(([name, text]) => {
    return !written.includes(name) || readFileSync(join(OUTPUT, name), "utf8") !== text;
  });
  const extra = written.filter((name) => !pages.has(name));
  const problems = [...stale.map(([name]) => name), ...extra];
  if (problems.length === 0) console.log(`${OUTPUT}: ${pages.size} pages are current`);
  else {
    console.error(`${problems.join(", ")} in ${OUTPUT} differ from src. Run npm run reference.`);
    process.exitCode = 1;
  }
}
