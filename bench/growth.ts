/**
 * Measures whether the cost of a step grows with the steps before it: a late step of a long loop to an early one in memory, and
 * a late turn of a conversation by `previous_response_id` to an early one on the local provider.
 */
import { measureChain } from "./measure-chain.ts";
import { measureLoop } from "./measure-loop.ts";
import { compareSides } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

/** The cost of a late and of an early step. */
interface Growth {
  readonly late: number;
  readonly early: number;
}

const loop = {
  what: "step 4,900 of a 5,000-call loop to step 100",
  unit: "µs",
  goal: 1.2,
} as const;
const chain = {
  what: "turn 2,000 of a conversation by `previous_response_id` to turn 100",
  unit: "µs",
  goal: 1.2,
} as const;

printResult({
  figures: [
    compareSides(loop, await repeat(measureLoop)),
    compareSides(chain, await repeat(measureChain)),
  ],
});

async function repeat(measure: () => Promise<Growth>) {
  await measure(); // warms up the compiler
  const rounds = [];
  for (let round = 0; round < countRounds(7); round++) {
    const { late, early } = await measure();
    rounds.push({ ours: late, reference: early });
  }
  return rounds;
}
