import {
  FilesystemError,
  type FilesystemErrorCode,
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../../base/filesystem-error.ts";

/**
 * An error in a form that can be sent between threads. An `Error` would lose its class and fields.
 */
export type WorkerFailure =
  | {
      readonly type: "filesystem";
      readonly code: FilesystemErrorCode;
      readonly path: string;
      readonly problem: string;
      readonly cause: unknown;
    }
  | { readonly type: "security" | "budget"; readonly message: string }
  | { readonly type: "other"; readonly error: unknown };

/** Converts an error to the form that a worker posts. */
export function toFailure(error: unknown): WorkerFailure {
  if (error instanceof FilesystemError) {
    const { code, path, message, cause } = error;
    const problem = message.slice(new FilesystemError(code, path, "").message.length);
    return { type: "filesystem", code, path, problem, cause };
  }
  if (error instanceof WorkspaceSecurityError) return { type: "security", message: error.message };
  if (error instanceof WorkspaceBudgetExceededError) {
    return { type: "budget", message: error.message };
  }
  return { type: "other", error };
}

/** Restores the error that a worker posted. */
export function fromFailure(failure: WorkerFailure): unknown {
  switch (failure.type) {
    case "filesystem":
      return new FilesystemError(failure.code, failure.path, failure.problem, failure.cause);
    case "security":
      return new WorkspaceSecurityError(failure.message);
    case "budget":
      return new WorkspaceBudgetExceededError(failure.message);
    case "other":
      return failure.error;
  }
}
