import { createInterface } from "node:readline";
import type { ApprovalRequest, Approver } from "../../adapter/approvals/approval-request.ts";
import { toJsonLine, toLine } from "../to-line.ts";
import type { RunHost } from "./run-host.ts";
import type { RunPrinter } from "./run-printer.ts";

/** How a run asks for approvals. */
export interface ApproverOptions {
  readonly host: RunHost;
  readonly printer: RunPrinter;
  readonly signal: AbortSignal;
  /** Whether the session is stored, so that a call can wait until the command runs again. */
  readonly isStored: boolean;
}

/**
 * Creates the function that decides about calls which need approval. It asks on a terminal. Without one, the call waits
 * if the session is stored, and is denied otherwise.
 */
export function createApprover({ host, printer, signal, isStored }: ApproverOptions): Approver {
  let last: Promise<unknown> = Promise.resolve(); // calls may run at the same time
  return async (request) => {
    if (printer.isShown && host.stdin.isTTY) {
      const answer = last.then(() => ask(request, { host, printer, signal }));
      last = answer.catch(() => {});
      return (await answer) ? "approve" : "deny";
    }
    if (isStored) return "park";
    const call = describeRequest(request);
    printer.note(
      `Denied ${call}: it needs approval, and there is no terminal to ask on. Use --store.`,
    );
    return "deny";
  };
}

/** Describes a call on one line. Its name and params come from a model. */
export function describeRequest({ name, params }: ApprovalRequest): string {
  return `${toLine(name)} ${toJsonLine(params)}`;
}

async function ask(
  request: ApprovalRequest,
  { host, printer, signal }: Pick<ApproverOptions, "host" | "printer" | "signal">,
): Promise<boolean> {
  printer.note(`Run ${describeRequest(request)}? (y/N)`);
  // In raw mode, a terminal would not send Ctrl-C to the process.
  const lines = createInterface({ input: host.stdin, terminal: false, signal });
  const line = await new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve("")); // Ctrl-D, or the signal
  });
  lines.close();
  return /^\s*y(?:es)?\s*$/i.test(line);
}
