import { deepFreeze } from "../../base/freeze.ts";
import { storedSession } from "../../session/stored-session.ts";
import type { Evaluation } from "../evaluation.ts";
import { publishEvent } from "../events.ts";
import type { ModelClient } from "../model-client.ts";
import type { EgressReport } from "./egress-report.ts";

/** Creates a report when it is first called, and returns the same one after that. */
export type EgressReader = () => EgressReport;

/** Ends the recording of a client's requests. */
export function readEgress(client: ModelClient): EgressReader {
  let createReport = client.egress?.() ?? createEmptyReport;
  return () => {
    const report = deepFreeze(createReport());
    createReport = () => report; // releases the record that it was created from
    return report;
  };
}

/**
 * Publishes `EgressReported` if the client records its requests, and the session is stored or a subscriber names the
 * event. Only reports errors.
 */
export function publishEgress(
  evaluation: Evaluation,
  client: ModelClient,
  read: EgressReader,
): void {
  if (!client.egress) return;
  const { session, logger } = evaluation;
  const isHeard = session[storedSession] !== null || (session.bus.hears?.(EVENT) ?? true);
  if (!isHeard) return;
  try {
    publishEvent(evaluation, { type: EVENT, egress: read() });
  } catch (error) {
    logger.error("EgressReported could not be published", { error });
  }
}

const EVENT = "EgressReported";

function createEmptyReport(): EgressReport {
  return { requests: [], verdict: "nothing stored" };
}
