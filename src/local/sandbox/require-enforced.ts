import { InvalidOptionError } from "../../base/errors.ts";
import type { LimitReport } from "./sandbox.ts";

/** Throws unless the operating system enforces every limit. */
export function requireEnforced(report: LimitReport): void {
  const watched = listWatched(report);
  if (watched.length === 0) return;
  const verb = watched.length === 1 ? "is" : "are";
  throw new InvalidOptionError({
    field: "limits.require",
    value: "enforced",
    rule: `needs a host that enforces every limit, and here ${watched.join(" and ")} ${verb} only watched (${report.means})`,
    remedy:
      'run as root with loop devices and mke2fs, choose another sandbox, or accept short excesses with "watched"',
  });
}

/** Lists the limits that are watched, not enforced. */
export function listWatched({ memory, processes, disk }: LimitReport): readonly string[] {
  return Object.entries({ memory, processes, disk })
    .filter(([, grade]) => grade === "watched")
    .map(([name]) => name);
}
