import type { Stoppable } from "../end-on-signal.ts";

/** The parts of `process` that a run of an agent uses. Tests pass their own. */
export interface RunHost extends Stoppable {
  readonly stdin: NodeJS.ReadableStream & {
    readonly isTTY?: boolean | undefined;
    destroy(): unknown;
  };
  readonly stdout: RunOutput;
  readonly stderr: RunOutput;
  readonly env: Record<string, string | undefined>;
}

/** An output stream of a {@link RunHost}. */
export interface RunOutput {
  /** Whether a person reads the stream. */
  readonly isTTY?: boolean | undefined;
  /** The number of characters that wait for the reader. */
  readonly writableLength: number;
  write(text: string): unknown;
}
