import type { EventStamp } from "../event-stamp.ts";
import type { EgressReport } from "./egress-report.ts";

declare module "../../session/event-map.ts" {
  /** Events that report what was sent. */
  interface EventMap {
    /** An evaluation has ended, and this is what it has sent. */
    EgressReported: EgressReported;
  }
}

/**
 * Published when an evaluation has ended, with or without an answer, if its session is stored or a subscriber names
 * this event: creating the report takes time. Subscribers of `"*"` do not receive it.
 */
export interface EgressReported extends EventStamp {
  /** Discriminates the event. */
  readonly type: "EgressReported";
  /** What the evaluation has sent to its provider, as in `response.egress`. */
  readonly egress: EgressReport;
}
