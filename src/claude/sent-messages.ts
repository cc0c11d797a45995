import { createHash } from "node:crypto";
import type { EgressReport, EgressRequest } from "../adapter/egress/egress-report.ts";

/** The name of the SDK's process, which sends the requests to the provider. */
const ENDPOINT = "claude-agent-sdk";

/**
 * The messages that an evaluation has passed to the Claude Agent SDK. Its process sends them to the provider, with
 * its own instructions and tool outputs; the adapter does not see these requests.
 */
export class SentMessages {
  readonly #requests: EgressRequest[] = [];
  /** Calls of the SDK's own tools, whose outputs its next request has. */
  #nativeCallIds: readonly string[] = [];

  /** Records the content of one message, and the ids of the tool calls whose outputs it has. */
  add(content: unknown, callIds: readonly string[] = []): void {
    const text = JSON.stringify(content);
    this.#requests.push({
      endpoint: ENDPOINT,
      bytes: Buffer.byteLength(text),
      sha256: createHash("sha256").update(text).digest("hex"),
      stored: false, // the Messages API keeps no state
      files: [],
      toolOutputs: [...this.#nativeCallIds, ...callIds],
    });
    this.#nativeCallIds = [];
  }

  /** Adds calls that the SDK has run itself. */
  addNativeCalls(callIds: readonly string[]): void {
    this.#nativeCallIds = [...this.#nativeCallIds, ...callIds];
  }

  /** Returns a function that creates the report. Outputs that no message followed are in a last entry. */
  close(): () => EgressReport {
    if (this.#nativeCallIds.length > 0) this.add([]);
    return () => ({ requests: [...this.#requests], verdict: "nothing stored" });
  }
}
