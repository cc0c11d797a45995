/** Runs every example on the built package and compares what it prints with what it says it prints. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const examples = readdirSync("examples").filter((file) => file.endsWith(".ts"));
if (examples.length === 0) throw new Error("There are no examples");

for (const example of examples) {
  const file = `examples/${example}`;
  const said = [...readFileSync(file, "utf8").matchAll(/^\/\/ prints: (.*)$/gm)].map(
    ([, line]) => line,
  );
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  const isRight = status === 0 && said.length > 0 && stdout.trimEnd() === said.join("\n");
  console.log(`${isRight ? "✓" : "✗"} ${file}`);
  if (isRight) continue;
  console.error(`It should print:\n${said.join("\n")}\nand prints:\n${stdout}${stderr}`);
  process.exitCode = 1;
}
