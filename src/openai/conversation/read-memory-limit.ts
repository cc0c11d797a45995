import { readRecord, readStringOrNull } from "../../base/json.ts";
import type { WireItem, WireTool } from "../wire.ts";

/** Reads the memory limit of the containers that a kind of tool creates; `null` if it names one. */
export function readMemoryLimit(tools: readonly WireTool[], kind: string): string | null {
  const tool: WireItem = { ...tools.find(({ type }) => type === kind) };
  const container = { ...readRecord(tool, "environment"), ...readRecord(tool, "container") };
  return readStringOrNull(container, "memory_limit");
}
