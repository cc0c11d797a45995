/**
 * What the library costs, as ratios of things measured side by side in this run: a step late in a
 * long loop to one early in it, and importing the root door to importing zod. Needs `npm run build`.
 */
import { measureImport } from "./imports.ts";
import { measureLoop } from "./loop.ts";
import { median } from "./median.ts";

const LOOPS = 7;
const IMPORTS = 25;

await measureLoop(); // warms the compiler up: its cost is not the loop's
const loops = [];
for (let round = 0; round < LOOPS; round++) loops.push(await measureLoop());
const growth = median(loops.map(({ early, late }) => late / early));

const imports = [];
for (let round = 0; round < IMPORTS; round++) {
  imports.push({ root: measureImport("weakincentives"), zod: measureImport("zod") });
}
const share = median(imports.map(({ root, zod }) => root / zod));

console.log(`Node ${process.version}, medians of ${LOOPS} loops and ${IMPORTS} imports\n`);
console.log("| what | measured | ratio | target |");
console.log("| --- | --- | ---: | ---: |");
const early = median(loops.map((loop) => loop.early)).toFixed(1);
const late = median(loops.map((loop) => loop.late)).toFixed(1);
console.log(
  `| step 4,900 of a 5,000-call loop to step 100 | ${late} µs to ${early} µs | ${growth.toFixed(2)}x | 1.20x |`,
);
const root = median(imports.map((one) => one.root)).toFixed(1);
const zod = median(imports.map((one) => one.zod)).toFixed(1);
console.log(
  `| importing weakincentives to importing zod | ${root} ms to ${zod} ms | ${share.toFixed(2)}x | 1.00x |`,
);
process.exitCode = growth <= 1.2 && share < 1 ? 0 : 1;
