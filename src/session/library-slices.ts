import type { Slice } from "./slice.ts";

const slices = new Map<string, Slice>();

/**
 * Makes a slice of the library known, so that `Session.open` replays it even if the caller does not pass
 * it. Returns the slice.
 */
export function addLibrarySlice<Kind extends Slice>(slice: Kind): Kind {
  slices.set(slice.id, slice);
  return slice;
}

/** Returns the slices of the library's loaded modules. */
export function listLibrarySlices(): readonly Slice[] {
  return [...slices.values()];
}

/**
 * Returns a sentence that names the entry points whose slices are missing because they were not imported;
 * empty if there are none.
 */
export function describeMissingSlices(ids: readonly string[]): string {
  const entryPoints = ids.flatMap((id) => ENTRY_POINTS.get(id.slice(0, id.indexOf("."))) ?? []);
  const names = [...new Set(entryPoints)].map((name) => `import "${name}"`);
  return names.length === 0 ? "" : ` For those of this package, use ${names.join(" and ")}.`;
}

/** Entry points by the first part of their slices' ids. */
const ENTRY_POINTS: ReadonlyMap<string, string> = new Map([
  ["wink", "weakincentives"],
  ["openai", "weakincentives/openai"],
  ["claude", "weakincentives/claude"],
]);
