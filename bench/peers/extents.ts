/** How much is measured. */
export interface Extent {
  /** Rounds of the metrics of warm processes. */
  readonly rounds: number;
  /** The CPU time of a batch. */
  readonly batchMs: number;
  /**
   * The CPU time before the first round. The engine compiles code that runs once per evaluation for the last time after about
   * 10,000 evaluations, which takes up to 1.5 s of the first 5 s.
   */
  readonly warmMs: number;
  /** Rounds of the metrics that need a new process for each value. */
  readonly coldRounds: number;
}

const warm = { batchMs: 50, warmMs: 6_000 };

/** For the report, and so for the recorded ratios. */
export const fullExtent: Extent = { ...warm, rounds: 24, coldRounds: 7 };

/** For one attempt of the short check: less of the same, so that its ratios are comparable with the recorded ones. */
export const shortExtent: Extent = { ...warm, rounds: 12, coldRounds: 3 };

/** For other SDKs, which cost several times as much: their ratios need no second digit. */
export const peerExtent: Extent = {
  rounds: 5,
  batchMs: 50,
  warmMs: 3_000,
  coldRounds: 2,
};

/** For a first impression. */
export const quickExtent: Extent = {
  rounds: 6,
  batchMs: 50,
  warmMs: 400,
  coldRounds: 1,
};
