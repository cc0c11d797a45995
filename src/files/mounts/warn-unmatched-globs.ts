import type { Logger } from "../../base/logger.ts";
import type { HostMountPreview } from "./host-mount-preview.ts";

/** Logs a warning for each mount with globs that match nothing: a misspelled `excludeGlob` excludes no file. */
export function warnUnmatchedGlobs(previews: readonly HostMountPreview[], logger: Logger): void {
  for (const { hostPath, mountPath, unmatched } of previews) {
    if (unmatched.length === 0) continue;
    logger.warn("globs of a mount match nothing", { hostPath, mountPath, globs: unmatched });
  }
}
