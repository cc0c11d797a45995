import type { TokenUsage } from "../base/usage.ts";
import type { Attributes, Histogram, Meter, OpenTelemetryApi } from "./load-open-telemetry.ts";

/** The histograms of the semantic conventions for generative AI clients. */
export class OperationMetrics {
  readonly #duration: Histogram;
  readonly #tokens: Histogram;

  constructor(meter: Meter, { ValueType }: Pick<OpenTelemetryApi, "ValueType">) {
    this.#duration = meter.createHistogram("gen_ai.client.operation.duration", {
      description: "GenAI operation duration.",
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.#tokens = meter.createHistogram("gen_ai.client.token.usage", {
      description: "Number of input and output tokens used.",
      unit: "{token}",
      valueType: ValueType.INT,
      advice: { explicitBucketBoundaries: TOKENS },
    });
  }

  /** Records how long a request or an evaluation took. */
  recordDuration(milliseconds: number, attributes: Attributes): void {
    this.#duration.record(milliseconds / 1_000, attributes);
  }

  /** Records the tokens of one request. */
  recordTokens({ inputTokens, outputTokens }: TokenUsage, attributes: Attributes): void {
    this.#tokens.record(inputTokens, { ...attributes, "gen_ai.token.type": "input" });
    this.#tokens.record(outputTokens, { ...attributes, "gen_ai.token.type": "output" });
  }
}

/** The bounds of buckets that the conventions recommend. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];
