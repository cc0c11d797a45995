import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { checkStrings } from "./mount-checks.ts";

/** The host folders that files may come from. */
export interface HostRoots {
  /** Throws `WorkspaceSecurityError` if a real path is outside the roots. `given` is the original path, for the message. */
  check(realPath: string, given: string): void;
}

/** Creates the check for allowed roots, compared by their real paths. A missing root allows nothing. */
export function hostRoots(allowed: readonly string[] | "any"): HostRoots {
  if (allowed === "any") return { check: () => {} };
  const roots = checkStrings(allowed, "allowedHostRoots");
  const prefixes = roots
    .map(resolveAllowedRoot)
    .map((root) => (root.endsWith("/") ? root : `${root}/`));
  return {
    check(realPath, given) {
      if (prefixes.some((prefix) => `${realPath}/`.startsWith(prefix))) return;
      const shown = JSON.stringify(given);
      const path = realPath === resolve(given) ? shown : `${shown}, which is ${realPath},`;
      const where = roots.length === 0 ? "which are empty" : quoteNames(roots);
      throw new WorkspaceSecurityError(
        `${path} is outside the allowed host roots, ${where}. Add its folder to allowedHostRoots.`,
      );
    },
  };
}

function resolveAllowedRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return resolve(root);
    throw toFilesystemErrorWithRemedy(error, root, "use accessible folders in allowedHostRoots");
  }
}
