import { isPlainObject } from "../base/freeze.ts";
import { defineSlice } from "../session/slice.ts";

/** Which tools have succeeded in a session, and on which paths. */
export interface CallRecord {
  readonly tools: readonly string[];
  /** By tool. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
}

/** What policies remember; a rolled back call is forgotten with what it did. */
export const callRecord = defineSlice<CallRecord>("wink.calls", {
  initial: { tools: [], paths: {} },
  on: {
    ToolInvoked: (record, { name, params, result }) => {
      if (!result.success) return record;
      const path = isPlainObject(params) ? params["path"] : undefined;
      return {
        tools: record.tools.includes(name) ? record.tools : [...record.tools, name],
        paths: typeof path === "string" ? withPath(record.paths, name, path) : record.paths,
      };
    },
  },
});

function withPath(paths: CallRecord["paths"], tool: string, path: string): CallRecord["paths"] {
  const known = Object.hasOwn(paths, tool) ? (paths[tool] ?? []) : [];
  return known.includes(path) ? paths : { ...paths, [tool]: [...known, path] };
}
