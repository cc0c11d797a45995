import { InvalidOptionError } from "../../base/errors.ts";
import { AgentLoop } from "../../fleet/loop/agent-loop.ts";
import type { WorkerLoop } from "../../fleet/loop/worker-loop.ts";
import { createForeignCopyError, importModule } from "../import-module.ts";

/** Loads the loops that modules export: as default or named exports, or in arrays. Each file must have one. */
export async function loadLoops(files: readonly string[]): Promise<readonly WorkerLoop[]> {
  const loops = new Set<WorkerLoop>();
  for (const file of files) {
    const module = await importModule(file, "a module with AgentLoops");
    const values = Object.values(module).flatMap((value: unknown): unknown[] =>
      Array.isArray(value) ? value : [value],
    );
    const found = values.filter((value) => value instanceof AgentLoop);
    if (found.length === 0) throw createEmptyError(file, values);
    for (const loop of found) loops.add(loop);
  }
  return [...loops];
}

function createEmptyError(file: string, values: readonly unknown[]): InvalidOptionError {
  const isForeign = values.some((value) => value?.constructor.name === AgentLoop.name);
  if (isForeign) return createForeignCopyError(file);
  const remedy = "use export const loop = new AgentLoop({ … })";
  return InvalidOptionError.at("FILE")("", file, "must export an AgentLoop", remedy);
}
