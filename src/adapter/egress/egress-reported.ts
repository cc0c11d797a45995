import type { EventStamp } from "../event-stamp.ts";
import type { EgressReport } from "./egress-report.ts";

declare module "../../session/event-map.ts" {
  /** Events that report requests. */
  interface EventMap {
    /** The requests of an evaluation that has ended. */
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
  /** The requests of the evaluation to its provider, as in `response.egress`. */
  readonly egress: EgressReport;
}
