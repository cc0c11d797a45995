import { InvalidOptionError } from "../../base/errors.ts";
import type { LimitReport } from "./sandbox.ts";

/** Throws unless the operating system enforces every limit. */
export function requireEnforced(report: LimitReport | undefined): void {
  const { memory, processes, disk, means } = report ?? ALL_WATCHED;
  const watched = Object.entries({ memory, processes, disk })
    .filter(([, grade]) => grade === "watched")
    .map(([name]) => name);
  if (watched.length === 0) return;
  throw new InvalidOptionError({
    field: "limits.require",
    value: "enforced",
    rule: `needs a host that enforces every limit, and here ${watched.join(", ")} ${watched.length === 1 ? "is" : "are"} only watched, by ${means}`,
    remedy:
      'run as root with loop devices and mke2fs, choose another sandbox, or accept overshoot with limits: { require: "watched" }',
  });
}

const ALL_WATCHED: LimitReport = {
  memory: "watched",
  processes: "watched",
  disk: "watched",
  means: "the sandbox's own measurements",
};
