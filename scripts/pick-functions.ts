/**
 * Prints functions of `src` picked at random, without their place, to check that names and texts show where each
 * belongs: `npm run pick:functions -- --seed 1 --count 15`. `--answers` prints the files instead of the texts.
 */
import { parseArgs } from "node:util";
import { findFunctions } from "./words/declared-functions.ts";
import { pickAtRandom } from "./words/pick-at-random.ts";
import { isSource, openProject } from "./words/typescript-project.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "15" },
    answers: { type: "boolean", default: false },
  },
});
using project = openProject(process.cwd());
const functions = [...project.files]
  .filter(([path]) => isSource(path))
  .sort(([a], [b]) => a.localeCompare(b))
  .flatMap(([path, source]) => findFunctions(path, source))
  .filter(({ text }) => text.split("\n").length >= 3);

const picked = pickAtRandom(functions, readNumber("count"), readNumber("seed"));
for (const [index, { file, line, name, text }] of picked.entries()) {
  if (values.answers) console.log(`${index + 1}. ${name}: ${file}:${line}`);
  else console.log(`${index + 1}.\n${text}\n`);
}

function readNumber(option: "seed" | "count"): number {
  const number = Number(values[option]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${option} must be a positive integer, got "${values[option]}"`);
}
