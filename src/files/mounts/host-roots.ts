import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { list } from "../../base/show.ts";
import { hostCode, mountError } from "../../host/host-error.ts";
import { checkedTexts } from "./mount-checks.ts";

/** Where host files may come from. */
export interface HostRoots {
  /** Refuses a real path that is outside; `given` is what led to it, for the message. */
  check(realPath: string, given: string): void;
}

/** The roots by their real paths. A root that does not exist holds nothing. */
export function hostRoots(allowed: readonly string[] | "any"): HostRoots {
  if (allowed === "any") return { check: () => {} };
  const roots = checkedTexts(allowed, "allowedHostRoots");
  const prefixes = roots.map(realPathOf).map((root) => (root.endsWith("/") ? root : `${root}/`));
  return {
    check(realPath, given) {
      if (prefixes.some((prefix) => `${realPath}/`.startsWith(prefix))) return;
      const shown = JSON.stringify(given);
      const path = realPath === resolve(given) ? shown : `${shown}, which is ${realPath},`;
      const where = roots.length === 0 ? "and none is allowed" : list(roots);
      throw new WorkspaceSecurityError(
        `${path} is outside the allowed host roots, ${where}: add its folder to allowedHostRoots`,
      );
    },
  };
}

function realPathOf(root: string): string {
  try {
    return realpathSync.native(root);
  } catch (error) {
    if (hostCode(error) === "ENOENT") return resolve(root);
    throw mountError(error, root, "allowedHostRoots must name folders");
  }
}
