import { InvalidOptionError } from "../../base/errors.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import type { AutoContainerConfig } from "../../tools/hosted/code-interpreter.ts";
import { checkUploadSizes } from "./check-upload-sizes.ts";
import { resolveContainerSettings } from "./container-config.ts";
import { createUploadName } from "./python-snippets.ts";
import { WorkspaceLoader } from "./workspace-loader.ts";
import { workspaceText } from "./workspace-text.ts";

/** A workspace with the `hostMounts` of a tool, and the text that describes its files to the model. */
export interface MountWorkspace {
  readonly files: WorkspaceLoader;
  readonly text: string;
}

/** Creates a workspace from the `hostMounts` of the tool `name`. Edge runtimes have no host files. */
export function createMountWorkspace(container: AutoContainerConfig, name: string): MountWorkspace {
  const field = `Hosted tool "${name}" config.container`;
  const { hostMounts = [], allowedHostRoots, memoryLimit = "1g", networkPolicy } = container;
  if (allowedHostRoots === undefined) {
    throw new InvalidOptionError({
      field: `${field}.allowedHostRoots`,
      value: allowedHostRoots,
      rule: "must be provided with hostMounts, because these files are uploaded",
      remedy: 'list the folders that mounts may come from, or pass "any"',
    });
  }
  const plan = planToolMounts(hostMounts, allowedHostRoots, field);
  checkUploadSizes(plan, "bootstrap");
  const archive = createUploadName("tar");
  const settings = resolveContainerSettings(
    { memoryLimit, networkPolicy },
    field,
    container.fileIds,
  );
  const files = new WorkspaceLoader({
    plan,
    settings,
    archive,
    name: "weakincentives",
    unpack: "bootstrap",
    syncPolicy: "never",
    syncDestination: null,
    deleteOnCleanup: false,
    client: null,
  });
  return { files, text: workspaceText(plan, "bootstrap", archive) };
}

/** Plans the mounts of a tool. Errors name the tool's own fields. */
function planToolMounts(
  hostMounts: readonly HostMount[],
  allowedHostRoots: readonly string[] | "any",
  field: string,
): MountPlan {
  try {
    return planMounts(hostMounts, { allowedHostRoots });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    throw error.withField(`${field}.${error.field.replace(/^mounts/, "hostMounts")}`);
  }
}
