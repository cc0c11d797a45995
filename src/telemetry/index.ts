/**
 * OpenTelemetry spans and metrics of evaluations, by the semantic conventions for generative AI.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */
export {
  type InstrumentOptions,
  instrument,
  type TelemetryApi,
  type TelemetryMeter,
  type TelemetryTracer,
} from "./instrument.ts";
