/** One field that is not the same in two runs. */
export interface Difference {
  /** `events[3].result.message` */
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

/** Fields that name a run, or measure it: they differ between two runs on the same runtime too. */
const ofTheRun = new Set([
  ...["sessionId", "createdAt", "callId", "requestId", "requestIds", "responseId", "durationMs"],
  ...["model", "usage", "costUsd", "egress", "history", "raw", "directory"],
]);

/** Compares two values field by field, to the last text and number. */
export function* differences(one: unknown, other: unknown, path = ""): Generator<Difference> {
  if (one instanceof Map && other instanceof Map) {
    yield* differences(Object.fromEntries(one), Object.fromEntries(other), path);
    return;
  }
  if (isData(one) && isData(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    for (const key of keys) {
      if (ofTheRun.has(key)) continue;
      const below = Array.isArray(one) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      yield* differences(one[key], other[key], below);
    }
  } else if (JSON.stringify(one) !== JSON.stringify(other)) yield { path, one, other };
}

function isData(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
