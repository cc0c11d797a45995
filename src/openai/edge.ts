/**
 * Replaces the files of this folder that need Node in bundles for edge runtimes and browsers. There, `#host` in
 * package.json leads to this file, so it exports every value that other files import from them (decision 73).
 */
import { WinkError } from "../base/errors.ts";

/** Refuses `hostMounts`. Replaces `workspace/mount-workspace.ts`. */
export function createMountWorkspace(_container: object, name: string): never {
  throw createNodeOnlyError(`Hosted tool "${name}" has hostMounts, which need`);
}

/** Refuses to be constructed. Replaces `workspace/container-workspace-section.ts`. */
export class OpenAIContainerWorkspaceSection {
  constructor() {
    throw createNodeOnlyError("OpenAIContainerWorkspaceSection needs");
  }
}

/** Refuses to be constructed. Replaces `workspace/container-filesystem.ts`. */
export class ContainerFilesystem {
  constructor() {
    throw createNodeOnlyError("ContainerFilesystem needs");
  }
}

/** Refuses to be constructed. Replaces `workspace/container-manager.ts`. */
export class ContainerManager {
  constructor() {
    throw createNodeOnlyError("ContainerManager needs");
  }
}

function createNodeOnlyError(subject: string): WinkError {
  const conditions = '"workerd", "edge-light", "worker" or "browser"';
  return new WinkError(
    `${subject} Node, and this bundle was built for an edge runtime or a browser. Run it on Node, in a bundle without the conditions ${conditions}.`,
  );
}
