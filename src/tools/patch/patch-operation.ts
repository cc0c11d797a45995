import { isPlainObject } from "../../base/freeze.ts";
import { quoteNames, quoteValue } from "../../base/quote-value.ts";
import { parseHunks, parseNewText } from "./parse-hunks.ts";
import { createUpdate, type FileChange, toPatchLines } from "./parse-patch.ts";
import { PatchError } from "./patch-error.ts";

/** A change of one file. Its `diff` contains V4A lines without `***` headers. */
export type PatchOperation =
  | {
      /** Creates a file, or overwrites it. */
      readonly type: "create";
      /** Path of the file, relative to the root. */
      readonly path: string;
      /** The whole text, with a `+` before each line. */
      readonly diff: string;
    }
  | {
      /** Changes or moves a file. */
      readonly type: "update";
      /** Path of the file, relative to the root. */
      readonly path: string;
      /** Hunks of the update. May be empty if the file is only moved. */
      readonly diff: string;
      /** New path of the file. A file that exists there is overwritten. @default unchanged */
      readonly moveTo?: string | undefined;
    }
  | {
      /** Deletes a file. */
      readonly type: "delete";
      /** Path of the file, relative to the root. */
      readonly path: string;
    };

/** Parses an array of operations from a provider. */
export function parseOperations(operations: readonly PatchOperation[]): FileChange[] {
  if (!Array.isArray(operations)) {
    const problem = `the patch is ${quoteValue(operations)}`;
    throw new PatchError({ problem, remedy: "pass a string or an array of operations" });
  }
  if (operations.length > 0) return operations.map(toFileChange);
  throw new PatchError({ problem: "the patch has no operations", remedy: "add an operation" });
}

function toFileChange(operation: PatchOperation): FileChange {
  checkOperation(operation);
  const { type, path } = operation;
  if (type === "delete") return { type, path, line: null };
  const lines = toPatchLines(operation.diff, path);
  if (type === "create") return { type, path, line: null, text: parseNewText(lines, path) };
  const { moveTo = null } = operation;
  return createUpdate({ path, line: null, hunks: parseHunks(lines, path), moveTo });
}

const operationTypes = ["create", "update", "delete"];

/** Checks an operation at run time, because it may come from a model or from JavaScript. */
function checkOperation(operation: unknown): void {
  if (!isPlainObject(operation))
    throw createOperationError(null, `the operation is ${quoteValue(operation)}`);
  const { type, path, diff, moveTo } = operation;
  if (typeof path !== "string")
    throw createOperationError(null, `the operation has ${quoteValue(path)} as its path`);
  if (typeof type !== "string" || !operationTypes.includes(type)) {
    throw createOperationError(
      path,
      `the operation has ${quoteValue(type)} as its type instead of ${quoteNames(operationTypes)}`,
    );
  }
  if (type !== "delete" && typeof diff !== "string") {
    throw createOperationError(path, `the operation has ${quoteValue(diff)} as its diff`);
  }
  if (moveTo !== undefined && (type !== "update" || typeof moveTo !== "string")) {
    throw createOperationError(path, `the operation has ${quoteValue(moveTo)} as moveTo`);
  }
}

function createOperationError(path: string | null, problem: string): PatchError {
  return new PatchError({ path, problem, remedy: "use { type, path, diff }" });
}
