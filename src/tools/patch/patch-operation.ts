import { isPlainObject } from "../../base/freeze.ts";
import { list, show } from "../../base/show.ts";
import { PatchError } from "./patch-error.ts";
import { parseHunks, parseNewText } from "./v4a-hunks.ts";
import { type FileChange, patchLines, updateChange } from "./v4a-patch.ts";

/** A change of one file whose `diff` has lines of V4A and no `***` headers. */
export type PatchOperation =
  | {
      readonly type: "create";
      readonly path: string;
      /** The whole text, a `+` before each line. */
      readonly diff: string;
    }
  | {
      readonly type: "update";
      readonly path: string;
      /** Hunks. May be empty if the file is only moved. */
      readonly diff: string;
      /** Where the file goes. @default it stays where it is */
      readonly moveTo?: string | undefined;
    }
  | { readonly type: "delete"; readonly path: string };

/** Reads what a provider gives as a list of operations. */
export function parseOperations(operations: readonly PatchOperation[]): FileChange[] {
  if (!Array.isArray(operations)) {
    const problem = `is ${show(operations)}`;
    throw new PatchError({ problem, remedy: "give a text or a list of operations" });
  }
  if (operations.length > 0) return operations.map(changeOf);
  throw new PatchError({ problem: "changes no file", remedy: "give an operation" });
}

function changeOf(operation: PatchOperation): FileChange {
  checkShape(operation);
  const { type, path } = operation;
  if (type === "delete") return { type, path, line: null };
  const lines = patchLines(operation.diff, path);
  if (type === "create") return { type, path, line: null, text: parseNewText(lines, path) };
  const { moveTo = null } = operation;
  return updateChange({ path, line: null, hunks: parseHunks(lines, path), moveTo });
}

const types = ["create", "update", "delete"];

/** Operations come from a model or from plain JavaScript, whatever their type says. */
function checkShape(operation: unknown): void {
  if (!isPlainObject(operation)) throw misshapen(null, `has ${show(operation)} for an operation`);
  const { type, path, diff, moveTo } = operation;
  if (typeof path !== "string") throw misshapen(null, `has ${show(path)} for a path`);
  if (typeof type !== "string" || !types.includes(type)) {
    throw misshapen(path, `has ${show(type)} for a type, not one of ${list(types)}`);
  }
  if (type !== "delete" && typeof diff !== "string") {
    throw misshapen(path, `has ${show(diff)} for a diff`);
  }
  if (moveTo !== undefined && (type !== "update" || typeof moveTo !== "string")) {
    throw misshapen(path, `has ${show(moveTo)} for the path to move to`);
  }
}

function misshapen(path: string | null, problem: string): PatchError {
  return new PatchError({ path, problem, remedy: "write { type, path, diff }" });
}
