import { performance } from "node:perf_hooks";
import { type LocalModel, LocalProvider } from "weakincentives/local";
import { median } from "./median.ts";

const TURNS = 2_025;
/** Turns on either side of the one that is reported: its own time is mostly noise. */
const AROUND = 25;
const EARLY = 100;
const LATE = 2_000;

/** Says the same whatever was said before: what a model reads is its own to spend. */
const model: LocalModel = { respond: async () => [{ say: "Noted." }] };

/**
 * One conversation on the local provider, each turn naming the response before it; what a turn costs
 * early and late, in microseconds.
 */
export async function measureChain(): Promise<{ readonly early: number; readonly late: number }> {
  await using provider = new LocalProvider({ model });
  const times = new Float64Array(TURNS);
  let previous: string | undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const body = { model: "local", input: "And then?", previous_response_id: previous };
    const started = performance.now();
    previous = await respond(provider, JSON.stringify(body));
    times[turn] = 1_000 * (performance.now() - started);
  }
  const costAt = (turn: number) => median([...times.subarray(turn - AROUND, turn + AROUND)]);
  return { early: costAt(EARLY), late: costAt(LATE) };
}

async function respond({ fetch }: LocalProvider, body: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch("http://local/v1/responses", { method: "POST", headers, body });
  const answer: unknown = await response.json();
  const id = Object(answer)["id"];
  if (typeof id !== "string") throw new Error(`no response: ${JSON.stringify(answer)}`);
  return id;
}
