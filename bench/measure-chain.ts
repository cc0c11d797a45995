import { performance } from "node:perf_hooks";
import { type LocalModel, LocalProvider } from "weakincentives/local";
import { median } from "./median.ts";

const TURNS = 2_025;
/** The number of turns to average on each side of the reported turn, whose own time is mostly noise. */
const AROUND = 25;
const EARLY = 100;
const LATE = 2_000;

/** A model with a constant answer, so that the model itself costs the same in every turn. */
const model: LocalModel = { respond: async () => [{ say: "Noted." }] };

/**
 * Runs one conversation on the local provider in which each turn names the previous response. Returns
 * the cost of an early and of a late turn in microseconds.
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
