/** How much is measured. */
export interface Extent {
  /** Processes of each client per warm metric. Two processes of one program differ by several percent. */
  readonly processes: number;
  /** Rounds in each of them. */
  readonly rounds: number;
  /** The CPU time of a batch. */
  readonly batchMs: number;
  /** The CPU time before the first round. Ratios fall until about 1.5 s, in which a process sends some 5,000 requests. */
  readonly warmMs: number;
  /** Rounds of the metrics that need a new process for each value. */
  readonly coldRounds: number;
}

const warm = { rounds: 16, batchMs: 50, warmMs: 1_500 };

/** For the report, and so for the recorded ratios. */
export const fullExtent: Extent = { ...warm, processes: 2, coldRounds: 7 };

/** For one attempt of the short check: less of the same, so that its ratios are comparable with the recorded ones. */
export const shortExtent: Extent = { ...warm, processes: 1, coldRounds: 3 };

/** For other SDKs, which cost several times as much: their ratios need no second digit. */
export const peerExtent: Extent = {
  rounds: 5,
  batchMs: 50,
  warmMs: 800,
  processes: 1,
  coldRounds: 2,
};

/** For a first impression. */
export const quickExtent: Extent = {
  rounds: 6,
  batchMs: 50,
  warmMs: 400,
  processes: 1,
  coldRounds: 1,
};
