import type { PrepareContext } from "../prompt/section.ts";
import type { OmittedTool } from "./select-tools.ts";

/** An event for the session of an evaluation. */
export type McpReport =
  | ({ readonly type: "McpToolOmitted" } & OmittedTool)
  | { readonly type: "McpRefreshFailed"; readonly reason: string };

/** The evaluations that use a section, each with the reports that it has received. */
export class McpReports {
  readonly #section: string;
  readonly #server: string;
  readonly #sent = new Map<PrepareContext, Set<string>>();

  constructor({ section, server }: { readonly section: string; readonly server: string }) {
    this.#section = section;
    this.#server = server;
  }

  /** Whether no evaluation uses the section. */
  get isEmpty(): boolean {
    return this.#sent.size === 0;
  }

  /** Adds an evaluation. Returns whether it is new. */
  add(context: PrepareContext): boolean {
    if (this.#sent.has(context)) return false;
    this.#sent.set(context, new Set());
    return true;
  }

  /** Removes an evaluation. */
  delete(context: PrepareContext): void {
    this.#sent.delete(context);
  }

  /** Dispatches an event to an evaluation's session, once. */
  send(context: PrepareContext, report: McpReport): void {
    const sent = this.#sent.get(context);
    const text = JSON.stringify(report);
    if (!sent || sent.has(text)) return;
    sent.add(text);
    const { session } = context;
    const [section, server] = [this.#section, this.#server];
    session.dispatch({ ...report, sessionId: session.id, section, server });
  }
}
