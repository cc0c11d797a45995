import type { ApprovalRequest } from "../../adapter/approvals/approval-request.ts";
import { WinkError } from "../../base/errors.ts";
import type { Run } from "../../fleet/run.ts";
import { pluralize } from "../pluralize.ts";
import { toJsonLine, toLine } from "../to-line.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import { findRun } from "./find-run.ts";
import type { ApproveOptions } from "./fleet-actions.ts";
import { toShortKey } from "./format-run.ts";
import { useFleet } from "./use-fleet.ts";

/** Approves or denies a call that waits, and prints it. */
export async function approveCall(choice: FleetChoice, options: ApproveOptions): Promise<void> {
  await useFleet(choice, async (opened) => {
    const run = await findRun(opened, options.run);
    const request = selectRequest(run, options.key);
    await opened.fleet.approve(run.id, request.key, options.deny ? "deny" : "approve");
    const { approvals = [] } = (await opened.fleet.find(run.id)) ?? {};
    if (options.json) {
      const { key, name } = request;
      const decision = options.deny ? "deny" : "approve";
      console.log(JSON.stringify({ id: run.id, key, name, decision, waiting: approvals.length }));
      return;
    }
    const left =
      approvals.length === 0 ? "" : ` ${pluralize(approvals.length, "call")} still waiting.`;
    console.log(
      `${options.deny ? "Denied" : "Approved"} ${formatRequest(request)} of run ${run.id}.${left}`,
    );
  });
}

function selectRequest(run: Run, key: string | undefined): ApprovalRequest {
  const { id, state, approvals } = run;
  const found = approvals.filter(
    (one) => key === undefined || one.key === key || toShortKey(one) === key,
  );
  const [request, ...others] = found;
  if (request && others.length === 0) return request;
  if (approvals.length === 0) {
    throw new WinkError(
      `Run ${id} is ${state}, and none of its calls waits for approval. Check the run with wink fleet show.`,
    );
  }
  const lines = approvals.map((one) => `  ${toLine(toShortKey(one))}  ${formatRequest(one)}`);
  const what = request
    ? `Several calls of run ${id} wait for approval`
    : `No call of run ${id} with the key ${JSON.stringify(key)} waits for approval`;
  throw new WinkError([`${what}. Pass one of these keys:`, ...lines].join("\n"));
}

function formatRequest({ name, params }: ApprovalRequest): string {
  return `${toLine(name)} ${toJsonLine(params, MAX_PARAMS)}`;
}

const MAX_PARAMS = 200;
