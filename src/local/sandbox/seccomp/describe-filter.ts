import { SYSTEM_CALLS } from "./system-calls.ts";

/** Describes a missing system call filter, to follow another sentence. Empty if there is one. */
export function describeFilter(architecture: string): string {
  if (SYSTEM_CALLS.has(architecture)) return "";
  const known = [...SYSTEM_CALLS.keys()].join(" and ");
  return `, but without a system call filter, which exists for ${known} only, not for ${architecture}: code reaches the whole kernel`;
}
