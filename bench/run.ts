/**
 * Measures the library's cost as ratios, side by side in one run: a late step of a long loop to an early
 * step, in memory, over a socket to an OpenAI stand-in and on the local provider; importing the root
 * entry point to importing zod; packing and planning a workspace to GNU tar and find. Run
 * `npm run build` first.
 */
import { measureChain } from "./chained.ts";
import { measureImport } from "./imports.ts";
import { measureLoop } from "./loop.ts";
import { median } from "./median.ts";
import { measureOpenAILoop, startStub } from "./openai-loop.ts";
import { measurePacking } from "./pack.ts";

const LOOPS = 7;
const IMPORTS = 25;
const PACKINGS = 5;

await measureLoop(); // warms up the compiler
const loops = [];
for (let round = 0; round < LOOPS; round++) loops.push(await measureLoop());
const growth = median(loops.map(({ early, late }) => late / early));

const wired = await measureWired();
const wiredGrowth = median(wired.map(({ early, late }) => late / early));

await measureChain();
const chains = [];
for (let round = 0; round < LOOPS; round++) chains.push(await measureChain());
const chainGrowth = median(chains.map(({ early, late }) => late / early));

const imports = [];
for (let round = 0; round < IMPORTS; round++) {
  imports.push({ root: measureImport("weakincentives"), zod: measureImport("zod") });
}
const share = median(imports.map(({ root, zod }) => root / zod));

const packings = await measurePacking(PACKINGS);
const packing = median(packings.map(({ pack, tar }) => pack / tar));
const planning = median(packings.map(({ plan, find }) => plan / find));
const stall = median(packings.map((round) => round.stall));

console.log(
  `Node ${process.version}, medians of ${LOOPS} loops, ${IMPORTS} imports and ${PACKINGS} packings\n`,
);
console.log("| what | measured | ratio | target |");
console.log("| --- | --- | ---: | ---: |");
const early = median(loops.map((loop) => loop.early)).toFixed(1);
const late = median(loops.map((loop) => loop.late)).toFixed(1);
console.log(
  `| step 4,900 of a 5,000-call loop to step 100 | ${late} µs to ${early} µs | ${growth.toFixed(2)}x | 1.20x |`,
);
const wiredEarly = median(wired.map((loop) => loop.early)).toFixed(0);
const wiredLate = median(wired.map((loop) => loop.late)).toFixed(0);
console.log(
  `| step 375 of a 400-request loop over OpenAI's wire to step 30, CPU | ${wiredLate} µs to ${wiredEarly} µs | ${wiredGrowth.toFixed(2)}x | 1.20x |`,
);
const chainEarly = median(chains.map((chain) => chain.early)).toFixed(0);
const chainLate = median(chains.map((chain) => chain.late)).toFixed(0);
console.log(
  `| turn 2,000 of a conversation by \`previous_response_id\` to turn 100 | ${chainLate} µs to ${chainEarly} µs | ${chainGrowth.toFixed(2)}x | 1.20x |`,
);
const root = median(imports.map((one) => one.root)).toFixed(1);
const zod = median(imports.map((one) => one.zod)).toFixed(1);
console.log(
  `| importing weakincentives to importing zod | ${root} ms to ${zod} ms | ${share.toFixed(2)}x | 1.00x |`,
);
const of = (name: "pack" | "tar" | "plan" | "find") =>
  median(packings.map((round) => round[name])).toFixed(0);
console.log(
  `| packing 10,000 files of 60 MB to GNU tar | ${of("pack")} ms to ${of("tar")} ms | ${packing.toFixed(2)}x | 2.00x |`,
);
console.log(
  `| planning them to GNU find with the same facts | ${of("plan")} ms to ${of("find")} ms | ${planning.toFixed(2)}x | 3.00x |`,
);
console.log(`| longest stall of the event loop while packing | ${stall.toFixed(1)} ms | | 20 ms |`);
const isFast = packing <= 2 && planning <= 3 && stall < 20;
const isFlat = growth <= 1.2 && wiredGrowth <= 1.2 && chainGrowth <= 1.2;
process.exitCode = isFlat && share < 1 && isFast ? 0 : 1;

async function measureWired() {
  using stub = await startStub();
  await measureOpenAILoop(stub.origin);
  const rounds = [];
  for (let round = 0; round < LOOPS; round++) rounds.push(await measureOpenAILoop(stub.origin));
  return rounds;
}
