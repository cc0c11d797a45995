import type { ApprovalRequest } from "../../adapter/approvals/approval-request.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { Run, RunFailure, RunState } from "../run.ts";

/** The columns of `wink.run` that a {@link Run} is read from, for a `select`. */
export const RUN_COLUMNS = `id, loop, version, key, grp, request, state, attempt, stuck, lost, worker, approvals,
  decisions, usage, failure, cancel_reason,
  ${toIsoColumn("not_before")}, ${toIsoColumn("deadline")}, ${toIsoColumn("created_at")}, ${toIsoColumn("ended_at")}`;

/** A row of a result. */
export type Row = Readonly<Record<string, unknown>>;

/** Converts a row with {@link RUN_COLUMNS}. */
export function toRun(row: Row): Run {
  const decisions = parseDecisions(row["decisions"]);
  return Object.freeze({
    id: String(row["id"]),
    loop: String(row["loop"]),
    version: String(row["version"]),
    key: toTextOrNull(row["key"]),
    group: toTextOrNull(row["grp"]),
    request: parse(row["request"]),
    state: String(row["state"]) as RunState, // the table has a check
    attempt: Number(row["attempt"]),
    stuck: Number(row["stuck"]),
    lost: Number(row["lost"]),
    worker: row["worker"] === null ? null : Number(row["worker"]),
    approvals: parseApprovals(row["approvals"]).filter(({ key }) => !decisions.has(key)),
    usage: isPlainObject(row["usage"]) ? (row["usage"] as unknown as TokenUsage) : null,
    error: toFailure(row["failure"]),
    cancelReason: toTextOrNull(row["cancel_reason"]),
    notBefore: toTextOrNull(row["not_before"]),
    deadline: toTextOrNull(row["deadline"]),
    createdAt: String(row["created_at"]),
    endedAt: toTextOrNull(row["ended_at"]),
  });
}

/** Reads the calls that wait for approval. */
export function parseApprovals(text: unknown): readonly ApprovalRequest[] {
  const value = parse(text);
  return Array.isArray(value) ? value.filter(isPlainObject).map((one) => one as never) : [];
}

/** Reads the decisions about calls, by key. */
export function parseDecisions(text: unknown): ReadonlyMap<string, "approve" | "deny"> {
  const value = parse(text);
  const decisions = new Map<string, "approve" | "deny">();
  for (const [key, decision] of Object.entries(isPlainObject(value) ? value : {})) {
    if (decision === "approve" || decision === "deny") decisions.set(key, decision);
  }
  return decisions;
}

/** Returns the name and the message of a stored error. */
function toFailure(text: unknown): RunFailure | null {
  if (typeof text !== "string") return null;
  const value = parse(text);
  if (!isPlainObject(value)) return null;
  return { name: String(value["name"]), message: String(value["message"]) };
}

function parse(text: unknown): unknown {
  const parsed = parseJson(String(text));
  return parsed.ok ? parsed.value : null;
}

function toTextOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** The text of a point in time, in ISO 8601. */
function toIsoColumn(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
}
