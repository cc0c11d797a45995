// Runs one client in a process of its own: a batch of runs for each message.
//
//   node worker.mjs '{ "name", "folder", "delivery"?, "origin" }'
//   -> 'ready'                                                  once
//   <- { scenario, cpuMs, minRuns, minRequests, concurrency, isMarked }      a batch
//   -> { cpuUs, wallUs, maxRssMb, earlyUs, lateUs }             its cost; times are per model request
//   -> { error }                                                or what went wrong: a wrong text, a wrong number of calls
import { pathToFileURL } from 'node:url';
import * as texts from './scenarios.mjs';

const { name, folder, delivery, origin } = JSON.parse(process.argv[2]);

// The tool that every client calls. It counts, and reads the clock at the calls in `marks`.
let calls = 0;
let marks = [];
const seen = [];
function add({ a, b }) {
  calls++;
  if (marks.includes(calls)) seen.push({ call: calls, ...readClocks() });
  return String(a + b);
}
function readClocks() {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, wallUs: performance.now() * 1000 };
}

const { create } = await import(pathToFileURL(`${folder}/client.mjs`).href);
const client = await create({
  baseURL: (scenario) => `${origin}/${encodeURIComponent(name)}/${scenario.name}/v1`,
  apiKey: 'sk-stub', add, texts, delivery,
});

async function runOnce(scenario) {
  const { text, citations, deltas } = await client.run(scenario);
  const label = `${name}, ${scenario.name}`;
  if (!text?.includes(texts.expectedText(scenario))) throw new Error(`${label}: wrong text ${JSON.stringify(text)?.slice(0, 200)}`);
  if (scenario.stream && !(deltas >= texts.STREAM_DELTAS)) throw new Error(`${label}: ${deltas} deltas`);
  if (scenario.tools === 'hosted' && citations !== texts.CITATIONS) throw new Error(`${label}: ${citations} citations`);
}

async function measure({ scenario: key, cpuMs = 0, minRuns = 1, minRequests = 0, concurrency = 1, isMarked = false }) {
  const scenario = texts.SCENARIOS[key];
  // No forced garbage collection: it discards optimized code, and makes every client look 1.5 to 2 times slower.
  calls = 0;
  seen.length = 0;
  marks = isMarked ? [10, 60, scenario.calls - 50, scenario.calls] : [];
  const before = readClocks();
  let runs = 0;
  for (;;) {
    if (concurrency === 1) await runOnce(scenario);
    else await Promise.all(Array.from({ length: concurrency }, () => runOnce(scenario)));
    runs += concurrency;
    marks = []; // only the first run is marked
    const isEnough = runs >= minRuns * concurrency && runs * scenario.steps >= minRequests;
    if (isEnough && readClocks().cpuUs - before.cpuUs >= cpuMs * 1000) break;
  }
  const after = readClocks();
  if (calls !== scenario.calls * runs) throw new Error(`${name}, ${key}: ${calls} tool calls, expected ${scenario.calls * runs}`);
  const steps = runs * scenario.steps;
  const cost = (from, to, count) => (to.cpuUs - from.cpuUs) / count;
  return {
    cpuUs: cost(before, after, steps), wallUs: (after.wallUs - before.wallUs) / steps,
    maxRssMb: process.resourceUsage().maxRSS / 1024,
    ...(seen.length === 4 && { earlyUs: cost(seen[0], seen[1], 50), lateUs: cost(seen[2], seen[3], 50) }),
  };
}

process.on('message', async (batch) => {
  try {
    process.send(await measure(batch));
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send('ready');
