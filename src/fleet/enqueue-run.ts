import { randomUUID } from "node:crypto";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { stableStringify } from "../base/json.ts";
import { emitWarning } from "../base/warn.ts";
import type { SqlClient } from "../stores/postgres/sql-client.ts";
import { FleetFullError } from "./errors/fleet-full-error.ts";
import { FleetError } from "./fleet-error.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { getQueueName } from "./tables/run-table.ts";

/** Options of `Fleet.enqueue`. */
export interface EnqueueOptions {
  /**
   * Identifies the request within its loop: the same key returns the first run, even after it has ended, until it is
   * deleted. 1 to 200 characters.
   * @default every request is a new run
   */
  readonly key?: string | undefined;
  /** Runs with a higher priority start first. An integer. @default 0 */
  readonly priority?: number | undefined;
  /** Runs of one group share the worker's `perGroup` limit. 1 to 200 characters. @default no group */
  readonly group?: string | undefined;
  /** The run does not start before this time. @default at once */
  readonly notBefore?: Date | undefined;
  /**
   * Enqueues within your transaction: anything with `query()` on which one was begun, in the fleet's database. The run
   * exists once you commit. @default a separate transaction
   */
  readonly in?: SqlClient | undefined;
}

const enqueueKeys: KnownKeys<EnqueueOptions> = {
  group: true,
  in: true,
  key: true,
  notBefore: true,
  priority: true,
};

/** A request to enqueue, which its loop has validated. */
export interface RequestedRun {
  readonly loop: string;
  readonly version: string;
  readonly deadlineMs: number | undefined;
  readonly request: unknown;
}

/** The part of a fleet that enqueues. */
export interface EnqueueParts extends Pick<FleetParts, "database" | "dispatch" | "runs" | "wakes"> {
  readonly maxWaiting: number | undefined;
}

/** The run of a request, new or found by its key. */
export interface StoredRun {
  readonly id: string;
  readonly isNew: boolean;
}

/** Stores a run and its job: both or neither. */
export async function enqueueRun(
  parts: EnqueueParts,
  requested: RequestedRun,
  options: EnqueueOptions,
): Promise<StoredRun> {
  checkOptions(options);
  const queue = getQueueName(requested);
  if (options.in && !parts.database.isShared && !parts.dispatch.hasQueue(queue)) {
    // The queue would be created on the only connection, which waits for the transaction.
    const what = `The queue of the loop "${requested.loop}" does not exist yet`;
    throw new FleetError(`${what}. Call fleet.register(loop) before the transaction.`);
  }
  await parts.dispatch.ensureQueue(queue);
  const enqueue = (sql: SqlClient) => insertRun(parts, sql, requested, options);
  const stored = options.in ? await enqueue(options.in) : await parts.database.transact(enqueue);
  if (!stored.isNew) return stored;
  if (options.in) await parts.runs.notify(options.in, { type: "wake" });
  else parts.wakes.wake(); // not waited for
  return stored;
}

/** Stores a run and its job within a transaction. The queue must exist. The caller wakes the workers. */
export async function insertRun(
  { dispatch, runs, maxWaiting }: Omit<EnqueueParts, "wakes">,
  sql: SqlClient,
  { loop, version, deadlineMs, request }: RequestedRun,
  options: EnqueueOptions,
): Promise<StoredRun> {
  const { key = null, priority = 0, group = null, notBefore = null } = options;
  const text = JSON.stringify(request);
  const existing = key === null ? null : await runs.findByKey(sql, loop, key);
  if (existing) return returnFirst(existing, request, key);
  if (maxWaiting !== undefined) {
    const waiting = await runs.countWaiting(sql, loop, maxWaiting);
    if (waiting >= maxWaiting) throw new FleetFullError({ loop, waiting, maxWaiting });
  }
  const id = randomUUID();
  const deadline = { deadlineMs: deadlineMs ?? null };
  const row = { id, loop, version, key, request: text, priority, group, notBefore, ...deadline };
  if (!(await runs.insert(sql, row))) {
    const first = key === null ? null : await runs.findByKey(sql, loop, key);
    if (first) return returnFirst(first, request, key);
    throw new FleetError(`Run ${id} could not be stored. Enqueue it again.`);
  }
  const queue = getQueueName({ loop, version });
  await dispatch.send(sql, { queue, id, runId: id, priority, group, startAfter: notBefore });
  return { id, isNew: true };
}

/** Warns if another request has the same key: it is not run. */
function returnFirst(
  { id, request: first }: { readonly id: string; readonly request: unknown },
  request: unknown,
  key: string | null,
): StoredRun {
  if (stableStringify(first) !== stableStringify(JSON.parse(JSON.stringify(request)))) {
    emitWarning(
      `The key ${JSON.stringify(key)} belongs to run ${id}, whose request is different. The new request is not run. ` +
        "Use another key for another request.",
    );
  }
  return { id, isNew: false };
}

const refuse = InvalidOptionError.at((name) => `Fleet.enqueue(${name})`);

function checkOptions(options: EnqueueOptions): void {
  checkKnownKeys(options, "Fleet.enqueue(options)", enqueueKeys);
  const { key, group, priority, notBefore, in: sql } = options;
  checkShortText("key", key, refuse);
  checkPlace({ group, priority }, refuse);
  if (
    notBefore !== undefined &&
    !(notBefore instanceof Date && !Number.isNaN(notBefore.getTime()))
  ) {
    throw refuse("notBefore", notBefore, "must be a valid Date", "omit it to start at once");
  }
  if (sql === undefined || typeof sql?.query === "function") return;
  const remedy = "pass the client on which you began a transaction";
  throw refuse("in", sql, "must be an object with query()", remedy, { secret: true });
}

/** Checks the options that decide when a run is fetched. */
export function checkPlace(
  { group, priority }: Pick<EnqueueOptions, "group" | "priority">,
  refuseAt: typeof refuse,
): void {
  checkShortText("group", group, refuseAt);
  if (priority === undefined || isInt32(priority)) return;
  throw refuseAt("priority", priority, "must be an integer of 32 bits", "omit it for 0");
}

function checkShortText(name: string, value: unknown, refuseAt: typeof refuse): void {
  const isText = typeof value === "string" && /^[^\0]{1,200}$/s.test(value);
  if (value === undefined || isText) return;
  throw refuseAt(name, value, "must be 1-200 characters without NUL", "omit it for none");
}

function isInt32(value: number): boolean {
  return Number.isSafeInteger(value) && value === (value | 0);
}
