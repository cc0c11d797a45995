import { isPlainObject } from "../base/freeze.ts";
import { checkToolName } from "../base/names.ts";
import { callRecord } from "./call-record.ts";
import type { ToolPolicy } from "./policy.ts";

/** Which tools read and which write; each takes a `path`. */
export interface ReadBeforeWriteOptions {
  /** @default ["read"] */
  readonly readTools?: readonly string[] | undefined;
  /** @default ["write", "edit", "rm"] */
  readonly writeTools?: readonly string[] | undefined;
}

/** A policy that lets a file be changed only once it was read; new files may be made freely. */
export function readBeforeWrite(options: ReadBeforeWriteOptions = {}): ToolPolicy {
  const { readTools = ["read"], writeTools = ["write", "edit", "rm"] } = options;
  const readers = readTools.map((name) => checkToolName(name, "readBeforeWrite(readTools)"));
  const writers = new Set(
    writeTools.map((name) => checkToolName(name, "readBeforeWrite(writeTools)")),
  );
  return Object.freeze({
    name: "read before write",
    check: async ({ tool, params }, { session, filesystem }) => {
      if (!writers.has(tool)) return null;
      const path = isPlainObject(params) ? params["path"] : undefined;
      if (typeof path !== "string") return `"${tool}" has no path to look at.`;
      if (!filesystem) return "There is no file system to look at.";
      const { paths } = session.get(callRecord);
      // Whoever wrote a file knows what is in it.
      const known = [...readers, ...writers].some((name) => paths[name]?.includes(path));
      if (known || !(await filesystem.exists(path))) return null;
      return `Read "${path}" with "${readers[0]}" before you change it.`;
    },
  } satisfies ToolPolicy);
}
