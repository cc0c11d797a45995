import { checkToolName } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { callRecord } from "./call-record.ts";
import type { ToolPolicy } from "./policy.ts";

/** Names of the tools that read and write. Each has a `path` param. */
export interface ReadBeforeWriteOptions {
  /** Tools that read a file. @default ["read"] */
  readonly readTools?: readonly string[] | undefined;
  /** Tools that change a file. @default ["write", "edit", "rm"] */
  readonly writeTools?: readonly string[] | undefined;
}

const keys: KnownKeys<ReadBeforeWriteOptions> = { readTools: true, writeTools: true };

/**
 * Returns a policy that allows changing an existing file only after it was read. New files are
 * always allowed.
 */
export function readBeforeWrite(options: ReadBeforeWriteOptions = {}): ToolPolicy {
  checkKnownKeys(options, "readBeforeWrite(options)", keys, PromptValidationError);
  const { readTools = ["read"], writeTools = ["write", "edit", "rm"] } = options;
  const readers = readTools.map((name) => checkToolName(name, "readBeforeWrite(readTools)"));
  const writers = new Set(
    writeTools.map((name) => checkToolName(name, "readBeforeWrite(writeTools)")),
  );
  return Object.freeze({
    name: "read before write",
    // The default names need not exist: a read-only section has no tools that write.
    ...(options.writeTools && { guards: Object.freeze([...writers]) }),
    ...(options.readTools && { requires: Object.freeze(readers) }),
    check: async ({ tool, params }, { session, filesystem }) => {
      if (!writers.has(tool)) return null;
      const path = isPlainObject(params) ? params["path"] : undefined;
      if (typeof path !== "string") return `"${tool}" has no "path" param to check.`;
      if (!filesystem) return "The prompt has no file system to check.";
      const { paths } = session.get(callRecord);
      // A model that wrote a file knows its content.
      const known = [...readers, ...writers].some(
        (name) => Object.hasOwn(paths, name) && paths[name]?.includes(path),
      );
      if (known || !(await filesystem.exists(path))) return null;
      return `Read "${path}" with "${readers[0]}" before you change it.`;
    },
  } satisfies ToolPolicy);
}
