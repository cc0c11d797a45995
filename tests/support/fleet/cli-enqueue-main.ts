/**
 * Enqueues runs for tests of `wink fleet`, and prints their ids, one per line:
 *   node cli-enqueue-main.ts '{ "folder": "fleet" }' review pay
 */
import { Fleet } from "../../../src/fleet/index.ts";
import { others, review } from "./cli-loops.ts";

const [options = "{}", ...names] = process.argv.slice(2);
await using fleet = await Fleet.open(JSON.parse(options));
for (const [n, name] of names.entries()) {
  const loop = [review, ...others].find((one) => one.name === name);
  if (!loop) throw new Error(`There is no loop ${name}.`);
  const { id } = await fleet.enqueue(loop, { n }, { key: `key-${n}`, group: "team-a" });
  process.stdout.write(`${id}\n`);
}
