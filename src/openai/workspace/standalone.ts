import { openAsBlob } from "node:fs";
import { basename, resolve } from "node:path";
import { checkOptions } from "../../base/names.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { syncTo } from "../../files/sync/sync-report.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { checkText } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { ContainerCalls } from "../http/container-calls.ts";
import { defaultPatience, patiently } from "../http/patience.ts";
import { type ContainerConfig, containerSettings } from "./container-config.ts";
import { ContainerManager } from "./container-manager.ts";
import type { FilesystemParts } from "./filesystem-parts.ts";
import { FlatPlacement } from "./flat-placement.ts";
import { Mirror } from "./mirror.ts";
import type { PlacementStep } from "./placement.ts";
import { Staleness } from "./staleness.ts";

/** What a `ContainerFilesystem` of one's own is made from. */
export interface ContainerFilesystemOptions {
  readonly client: OpenAIClient;
  readonly containerConfig?: ContainerConfig | undefined;
  /** An archive that every container starts with, as a file. @default none */
  readonly tarballPath?: string | undefined;
  /** A folder with what the archive holds; changes are made there too. @default a temporary one */
  readonly localRoot?: string | undefined;
}

/** A file system without a prompt: no model unpacks anything, so that files go up one by one. */
export function standaloneParts(options: ContainerFilesystemOptions): FilesystemParts {
  const { client, containerConfig, tarballPath, localRoot } = checkOptions(
    options,
    "ContainerFilesystem",
  );
  if (tarballPath !== undefined) checkText(tarballPath, "ContainerFilesystem.tarballPath");
  if (localRoot !== undefined) checkText(localRoot, "ContainerFilesystem.localRoot");
  const calls = new ContainerCalls(client);
  const patience = defaultPatience();
  const folder = reserveFolder();
  const plan = planMounts([], { allowedHostRoots: "any" });
  const mirror = new Mirror(folder, localRoot ? { root: resolve(localRoot) } : { plan });
  const placement = new FlatPlacement({ mirror, calls: () => calls, patience: () => patience });
  const stale = new Staleness(patience.clock);
  const touched = new Set<string>();
  /** What is known of the container is only true if nobody else changes it meanwhile. */
  const lane = new SharedLock();
  const manager = new ContainerManager({
    settings: containerSettings(containerConfig, "ContainerFilesystem.containerConfig"),
    name: "weakincentives",
    calls: () => calls,
    patience: () => patience,
    replaced: () => {},
    fill: (containerId, report, signal) =>
      lane.alone(async () => {
        await mirror.ready();
        if (tarballPath !== undefined) {
          placement.startsWith(mirror.original.size > 0 ? mirror.original : await mirror.digests());
          const file = new File([await openAsBlob(tarballPath)], basename(tarballPath));
          report("uploading");
          await patiently(() => calls.upload(containerId, file, { signal }), patience, signal);
        }
        touched.clear();
        await placement.fill({ containerId, signal, report });
        stale.refreshed();
      }),
  });
  const { signal } = new AbortController();
  const inContainer = <Result>(work: (step: PlacementStep) => Promise<Result>) =>
    manager.use((id) => lane.alone(() => work({ containerId: manager.containerId ?? id, signal })));
  const pull = async () =>
    await inContainer(async (step) => {
      const { failed } = await placement.pull(touched, step);
      stale.refreshed();
      return failed;
    });
  return {
    touched,
    get containerId() {
      return manager.containerId;
    },
    host: () => mirror.ready(),
    ensure: () => manager.ensure(),
    refresh: async () => void (stale.isStale && (await pull())),
    async push() {
      await inContainer(async (step) => {
        await placement.push(touched, step);
        await placement.notes(step);
        touched.clear();
      });
    },
    downloadAll: async (directory) => syncTo(resolve(directory), mirror, await pull()),
    async cleanup() {
      await manager.release();
      await mirror.remove();
    },
  };
}
