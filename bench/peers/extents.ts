import type { Batch } from "./client-process.ts";

/** How much is measured. */
export interface Extent {
  /** Rounds of the metrics of warm processes. */
  readonly rounds: number;
  /** The CPU time of a batch. */
  readonly batchMs: number;
  /** How long a process warms up before the first round. */
  readonly warmUp: Pick<Batch, "minRequests" | "cpuMs">;
  /** Rounds of the metrics that need a new process for each value. */
  readonly coldRounds: number;
}

/**
 * After about 10,000 requests, the engine compiles all functions that run once per request, for the last time. The cost of a
 * request settles after that.
 */
const warm = { batchMs: 50, warmUp: { minRequests: 25_000 } };

/** For the report, and so for the recorded ratios. */
export const fullExtent: Extent = { ...warm, rounds: 24, coldRounds: 7 };

/** For one attempt of the short check: less of the same, so that its ratios are comparable with the recorded ones. */
export const shortExtent: Extent = { ...warm, rounds: 12, coldRounds: 3 };

/** For other SDKs, which cost several times as much: their ratios need no second digit. */
export const peerExtent: Extent = {
  rounds: 5,
  batchMs: 50,
  warmUp: { cpuMs: 3_000 },
  coldRounds: 2,
};

/** For a first impression. */
export const quickExtent: Extent = {
  rounds: 6,
  batchMs: 50,
  warmUp: { cpuMs: 400 },
  coldRounds: 1,
};
