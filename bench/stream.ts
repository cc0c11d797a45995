/**
 * Measures what streams cost, as ratios of CPU time, side by side in one run: reading 400 deltas with
 * `adapter.stream()` to a minimal loop over `fetch`, and `evaluate` over a stream without a listener to
 * `evaluate` with a buffered response. Each side has its own process. Run `npm run build` first.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { median } from "./median.ts";
import { startStub } from "./openai-loop.ts";

const ROUNDS = 41;
/** Runs that come first to warm up the compiler; not counted. */
const WARMING = 500;
/** Runs of one side in one round. */
const RUNS = 25;

using stub = await startStub();

const rows = [
  {
    name: "400 deltas read with `adapter.stream()` to the same with `fetch`",
    target: 1,
    ...(await compare("stream", "fetch")),
  },
  {
    name: "`evaluate` over a stream to a buffered response, short text",
    target: 1.1,
    ...(await compare("text streamed", "text buffered")),
  },
  {
    name: "`evaluate` over a stream to a buffered response, 400 deltas",
    target: 2,
    ...(await compare("deltas streamed", "deltas buffered")),
  },
];

console.log(`Node ${process.version}, medians of ${ROUNDS} rounds of ${RUNS} evaluations, CPU\n`);
console.log("| what | measured | ratio | target |\n| --- | --- | ---: | ---: |");
for (const { name, one, other, ratio, target } of rows) {
  const measured = `${one.toFixed(0)} µs to ${other.toFixed(0)} µs`;
  console.log(`| ${name} | ${measured} | ${ratio.toFixed(2)}x | ${target.toFixed(2)}x |`);
}
process.exitCode = rows.every(({ ratio, target }) => ratio <= target) ? 0 : 1;

/** Alternates the two sides, so that other load affects both. The ratio is the median of the rounds' ratios. */
async function compare(side: string, reference: string) {
  using one = await startSide(side);
  using other = await startSide(reference);
  await one.measure(WARMING);
  await other.measure(WARMING);
  const rounds: { readonly one: number; readonly other: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? await one.measure(RUNS) : null;
    const measured = await other.measure(RUNS);
    rounds.push({ one: first ?? (await one.measure(RUNS)), other: measured });
  }
  return {
    one: median(rounds.map((round) => round.one)),
    other: median(rounds.map((round) => round.other)),
    ratio: median(rounds.map((round) => round.one / round.other)),
  };
}

/** Starts the process of one side. `measure` resolves with the CPU time of one run in microseconds. */
async function startSide(
  side: string,
): Promise<Disposable & { measure(runs: number): Promise<number> }> {
  const child: ChildProcess = fork(new URL("./stream-side.ts", import.meta.url), [
    side,
    stub.origin,
  ]);
  const fails = new Promise<never>((_resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${side} ended with ${code}`)));
  });
  fails.catch(() => {}); // it also ends when it is disposed
  await Promise.race([once(child, "message"), fails]);
  return {
    async measure(runs) {
      child.send(runs);
      const [cost] = await Promise.race([once(child, "message"), fails]);
      return cost;
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}
