/** A request that a schedule enqueues. */
export interface ScheduledRequest {
  /** Name of the schedule. */
  readonly name: string;
  readonly loop: string;
  readonly version: string;
  readonly request: unknown;
  readonly deadlineMs: number | undefined;
  readonly priority: number | undefined;
  readonly group: string | undefined;
}

/** Reads a request that was stored with a schedule. Returns `null` if it is damaged. */
export function parseScheduled(data: Readonly<Record<string, unknown>>): ScheduledRequest | null {
  const { name, loop, version, request, deadlineMs, priority, group } = data;
  if (typeof name !== "string" || typeof loop !== "string" || typeof version !== "string")
    return null;
  return {
    name,
    loop,
    version,
    request,
    deadlineMs: typeof deadlineMs === "number" ? deadlineMs : undefined,
    priority: typeof priority === "number" ? priority : undefined,
    group: typeof group === "string" ? group : undefined,
  };
}
