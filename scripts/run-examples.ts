/**
 * Runs every example on the built package, or those whose paths contain an argument, and compares their output with their
 * `// prints:` lines. `--list` prints the names of the examples that would run, and runs none.
 */
import { spawnSync } from "node:child_process";
import { type Example, listExamples } from "./examples/list-examples.ts";

const isListing = process.argv.includes("--list");
const parts = process.argv.slice(2).filter((argument) => argument !== "--list");
const examples = listExamples(process.cwd()).filter(
  ({ path }) => parts.length === 0 || parts.some((part) => path.includes(part)),
);
if (examples.length === 0) throw new Error("There are no examples");

for (const example of examples) {
  const missing = example.needs.find((name) => !isInstalled(name));
  if (missing) {
    if (!isListing) {
      console.log(`– ${example.path} is skipped, because ${missing} is not installed`);
    }
  } else if (isListing) console.log(example.path);
  else run(example);
}

function run({ path, prints, isRunByWink }: Example): void {
  const command = isRunByWink ? ["dist/cli/main.js", "run", path] : [path];
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { encoding: "utf8" });
  const isRight = status === 0 && prints.length > 0 && stdout.trimEnd() === prints.join("\n");
  console.log(`${isRight ? "✓" : "✗"} ${path}`);
  if (isRight) return;
  console.error(`It should print:\n${prints.join("\n")}\nand prints:\n${stdout}${stderr}`);
  process.exitCode = 1;
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
