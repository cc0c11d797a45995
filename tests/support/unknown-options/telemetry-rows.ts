import { instrument } from "weakincentives/telemetry";
import { type Row, session } from "./row.ts";

/** `weakincentives/telemetry`. */
export const telemetryRows: readonly Row[] = [
  [
    "instrument(options)",
    "captureContents",
    "captureContent",
    (o) => instrument(session, Object(o))[Symbol.dispose](),
  ],
];
