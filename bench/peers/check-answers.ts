/**
 * Runs every installed client through every scenario once, and fails if an answer, a tool call or the number of requests is
 * wrong: `node bench/peers/check-answers.ts`, or with the name of one client. For a new client, or new versions.
 */
import { ClientProcess } from "./client-process.ts";
import { buffered, type Client, ours, peers, rawFetch, rawHttp } from "./clients.ts";
import { installPeers } from "./install-peers.ts";
import { startStub } from "./start-stub.ts";

/** Scenarios with the number of their requests. */
const SCENARIOS = {
  text: 1,
  loop50: 50,
  parallel: 11,
  hosted: 1,
  stream: 1,
  unread: 1,
  long400: 400,
  long400prev: 400,
} as const;

const [only] = process.argv.slice(2);
const { installed, notes } = installPeers(peers);
for (const note of notes) console.error(note);
using stub = await startStub();
for (const client of [ours, buffered, rawHttp, rawFetch, ...installed]) {
  if (only === undefined || only === client.name) await checkClient(client);
}

async function checkClient(client: Client): Promise<void> {
  await using running = await ClientProcess.start(client, stub.origin);
  for (const [scenario, requests] of Object.entries(SCENARIOS)) {
    if (client.skips.some((metric) => metric === scenario)) continue;
    const problem = await findProblem(running, scenario, requests);
    console.log(`${client.name}, ${scenario}: ${problem ?? "right"}`);
    if (problem !== null) process.exitCode = 1;
  }
}

async function findProblem(
  running: ClientProcess,
  scenario: string,
  requests: number,
): Promise<string | null> {
  try {
    await running.measure({ scenario });
  } catch (error) {
    return String(error);
  }
  const stats = await (await fetch(`${stub.origin}/stats`)).json();
  const { requests: sent } =
    Object(stats)[`${encodeURIComponent(running.client.name)}/${scenario}`];
  return sent === requests ? null : `${sent} requests, expected ${requests}`;
}
