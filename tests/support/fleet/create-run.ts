import type { Run } from "../../../src/fleet/index.ts";

/** Creates a run that waits, with some other fields. */
export function createRun(fields: Partial<Run> = {}): Run {
  return {
    id: "aaaaaaaa-0000-4000-8000-000000000000",
    loop: "review",
    version: "3",
    key: null,
    group: null,
    request: { n: 1 },
    state: "waiting",
    attempt: 1,
    stuck: 0,
    lost: 0,
    worker: null,
    approvals: [],
    usage: null,
    error: null,
    cancelReason: null,
    notBefore: null,
    deadline: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    endedAt: null,
    ...fields,
  };
}
