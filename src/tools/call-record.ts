import { isPlainObject } from "../base/freeze.ts";
import { defineSlice } from "../session/define-slice.ts";
import { addLibrarySlice } from "../session/library-slices.ts";

/** Tools that succeeded in a session, and the paths they succeeded on. */
export interface CallRecord {
  readonly tools: readonly string[];
  /** The value of the `path` param of each successful call, by tool name. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
}

/** Successful calls in a session, for policies. Rolling a call back also removes its record. */
export const callRecord = addLibrarySlice(
  defineSlice<CallRecord>("wink.calls", {
    initial: { tools: [], paths: {} },
    on: {
      ToolInvoked: (record, { name, params, result }) => {
        if (!result.success) return record;
        const path = isPlainObject(params) ? params["path"] : undefined;
        return {
          tools: record.tools.includes(name) ? record.tools : [...record.tools, name],
          paths: typeof path === "string" ? addPath(record.paths, name, path) : record.paths,
        };
      },
    },
  }),
);

function addPath(paths: CallRecord["paths"], tool: string, path: string): CallRecord["paths"] {
  const known = Object.hasOwn(paths, tool) ? (paths[tool] ?? []) : [];
  return known.includes(path) ? paths : { ...paths, [tool]: [...known, path] };
}
