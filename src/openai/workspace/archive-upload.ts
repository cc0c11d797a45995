import { openAsBlob } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { packToFile } from "../../files/archive/pack-file.ts";
import type { ContainerFile } from "../http/container-calls.ts";
import { patiently } from "../http/patience.ts";
import type { PlacementParts, PlacementStep } from "./placement.ts";
import { OWN_PREFIX } from "./snippets.ts";

/** A name that nothing else in a container has. */
export function ownName(extension: string): string {
  return `${OWN_PREFIX}${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}.${extension}`;
}

/**
 * Packs a folder into one deterministic tar and uploads it. The tar lies on the disk meanwhile, so
 * that its size is known, it can be sent again, and it is never held in memory.
 */
export async function uploadArchive(
  folder: string,
  name: string,
  { mirror, calls, patience }: PlacementParts,
  { containerId, signal }: PlacementStep,
): Promise<ContainerFile> {
  const stage = await mirror.stage();
  try {
    const path = join(stage, name);
    await packToFile(folder, path, { signal });
    const file = new File([await openAsBlob(path)], name);
    return await patiently(() => calls().upload(containerId, file, { signal }), patience(), signal);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}
