/** A cost of a client that is compared with the same cost of the reference. */
export type Metric =
  | SteadyMetric
  | "throughput"
  | "long400"
  | "long400early"
  | "long400late"
  | "importCpu"
  | "startCpu"
  | "modules"
  | "rssLong400"
  | "rssConcurrent";

/** A CPU time per model request in a warm process. */
export type SteadyMetric =
  | "text"
  | "loop50"
  | "parallel"
  | "hosted"
  | "concurrent"
  | "stream"
  | "unread"
  | "long400prev";
