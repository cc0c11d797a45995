import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { readRecord, readString, readStringOrNull } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type {
  ApplyPatchCall,
  ApplyPatchConfig,
  ApplyPatchLive,
  ApplyPatchResult,
} from "../../tools/hosted/apply-patch.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { applyPatch } from "../../tools/patch/apply-patch.ts";
import type { PatchOperation } from "../../tools/patch/patch-operation.ts";
import type { WireItem } from "../wire.ts";
import { type CallContext, type CallOutcome, getCallId } from "./codec-call.ts";

/** A patch tool with its optional file system. */
export type LivePatchTool = HostedTool<ApplyPatchConfig, ApplyPatchResult, ApplyPatchLive>;

type Outcome = CallOutcome<ApplyPatchResult>;

/** Applies one call's operation. Errors in the patch are reported to the model. */
export async function runPatch(
  item: WireItem,
  tool: LivePatchTool,
  context: CallContext,
): Promise<Outcome> {
  const filesystem = findFilesystem(tool, context);
  const { operation, path } = readOperation(item);
  const createOutcome = (success: boolean, message: string): Outcome => {
    if (operation === null) return { output: null, success, message };
    const call: ApplyPatchCall = { callId: getCallId(item), operation, path, success, message };
    return { output: { calls: [call] }, success, message };
  };
  const patch = parsePatch(item);
  if (typeof patch === "string") return createOutcome(false, patch);
  try {
    await applyPatch(filesystem, [patch]);
  } catch (error) {
    if (error instanceof WinkError) return createOutcome(false, error.message); // a bad patch or file error
    throw error;
  }
  return createOutcome(true, `${verbs[patch.type]} ${JSON.stringify(path)}`);
}

/** Reads the operation and its path; the operation is `null` if its type is unknown. */
export function readOperation(item: WireItem): {
  readonly operation: ApplyPatchCall["operation"] | null;
  readonly path: string;
} {
  const wire = readRecord(item, "operation");
  return {
    operation: operations.get(readString(wire, "type")) ?? null,
    path: readString(wire, "path"),
  };
}

const operations: ReadonlyMap<string, ApplyPatchCall["operation"]> = new Map([
  ["create_file", "create"],
  ["update_file", "update"],
  ["delete_file", "delete"],
]);

const verbs = { create: "Created", update: "Updated", delete: "Deleted" } as const;

function findFilesystem(tool: LivePatchTool, context: CallContext) {
  const filesystem = tool.live.filesystem ?? context.filesystem;
  if (filesystem) return filesystem;
  throw createMissingFilesystemError(tool);
}

/** Creates the error for a patch tool that has no files to patch. */
export function createMissingFilesystemError({ name, live }: LivePatchTool): InvalidOptionError {
  return new InvalidOptionError({
    field: `Hosted tool "${name}" filesystem`,
    value: live.filesystem ?? null,
    rule: "must be a Filesystem if the prompt has no workspace",
    remedy:
      "create the tool with applyPatchTool(config, { filesystem }), or add a workspace section",
  });
}

/** Parses the operation; returns an error message if it is invalid. */
function parsePatch(item: WireItem): PatchOperation | string {
  const wire = readRecord(item, "operation");
  const { operation: type, path } = readOperation(item);
  if (type === null) {
    const known = "create_file, update_file or delete_file";
    return `Unknown operation ${quoteValue(wire["type"])}. Use ${known}.`;
  }
  if (type === "delete") return { type, path };
  const diff = readStringOrNull(wire, "diff");
  if (diff !== null) return { type, path, diff };
  return `Patch of ${quoteValue(path)} has no diff. Use { type, path, diff }.`;
}
