/**
 * Runs every example on the built package and compares its output with its `// prints:` lines.
 * `--list` prints the names of the examples that would run, and runs none.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const isListing = process.argv.includes("--list");

/** A program, or a folder that has one. */
const examples = readdirSync("examples", { recursive: true, encoding: "utf8" })
  .filter((file) => /^[^/]+\.ts$|^[^/]+\/main\.ts$/.test(file))
  .sort();
if (examples.length === 0) throw new Error("There are no examples");

for (const example of examples) {
  const file = `examples/${example}`;
  const source = readFileSync(file, "utf8");
  const missing = [...source.matchAll(/^\/\/ needs: (.*)$/gm)].find(([, name]) => !isThere(name));
  if (missing) {
    if (!isListing) console.log(`– ${file} is skipped, because ${missing[1]} is not installed`);
    continue;
  }
  if (isListing) {
    console.log(file);
    continue;
  }
  const said = [...source.matchAll(/^\/\/ prints: (.*)$/gm)].map(([, line]) => line);
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  const isRight = status === 0 && said.length > 0 && stdout.trimEnd() === said.join("\n");
  console.log(`${isRight ? "✓" : "✗"} ${file}`);
  if (isRight) continue;
  console.error(`It should print:\n${said.join("\n")}\nand prints:\n${stdout}${stderr}`);
  process.exitCode = 1;
}

function isThere(name = ""): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
