import type { Client } from "./clients.ts";
import type { Extent } from "./extents.ts";
import type { Metric } from "./metrics.ts";
import type { Samples } from "./samples.ts";

/** The clients and metrics to measure, and where the values go. */
export interface Measurement {
  readonly clients: readonly Client[];
  readonly extent: Extent;
  /** Which metrics are needed. Others are skipped if that saves time. */
  readonly wants: (metric: Metric) => boolean;
  readonly origin: string;
  readonly samples: Samples;
}
