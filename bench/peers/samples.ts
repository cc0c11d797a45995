import { estimateRatio } from "../estimate-ratio.ts";
import { median } from "../median.ts";
import type { Client } from "./clients.ts";
import type { Metric } from "./metrics.ts";

/** The medians of a client, and its ratios to the reference. */
export interface ClientSummary {
  readonly name: string;
  readonly values: Readonly<Partial<Record<Metric, number>>>;
  readonly ratios: Readonly<Partial<Record<Metric, number>>>;
}

/** Measurements of each client: a value per metric and round. */
export class Samples {
  readonly #values = new Map<Client, Map<Metric, number[]>>();

  add(client: Client, metric: Metric, value: number): void {
    const metrics = this.#values.get(client) ?? new Map<Metric, number[]>();
    this.#values.set(client, metrics);
    const values = metrics.get(metric) ?? [];
    metrics.set(metric, [...values, value]);
  }

  /** Summarizes a client. It has a ratio where it ran in the same rounds as the reference. */
  summarize(client: Client, reference: Client): ClientSummary {
    const values: Partial<Record<Metric, number>> = {};
    const ratios: Partial<Record<Metric, number>> = {};
    for (const [metric, rounds] of this.#values.get(client) ?? []) {
      const others = this.#values.get(reference)?.get(metric) ?? [];
      values[metric] = median(rounds);
      if (others.length !== rounds.length) continue;
      ratios[metric] = estimateRatio(
        rounds.map((ours, round) => ({ ours, reference: others[round] ?? Number.NaN })),
      );
    }
    return { name: client.name, values, ratios };
  }
}
