import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { maybeTextAt, recordAt, textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import type {
  ApplyPatchCall,
  ApplyPatchConfig,
  ApplyPatchLive,
  ApplyPatchResult,
} from "../../tools/hosted/apply-patch.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { applyPatch } from "../../tools/patch/patch.ts";
import type { PatchOperation } from "../../tools/patch/patch-operation.ts";
import type { WireItem } from "../wire.ts";
import { type CallContext, callIdOf, type OutcomeOf } from "./codec-parts.ts";

/** A patch tool with the files it was given, if it was. */
export type LivePatchTool = HostedTool<ApplyPatchConfig, ApplyPatchResult, ApplyPatchLive>;

type Outcome = OutcomeOf<ApplyPatchResult>;

/** Applies one call's operation. What the patch gets wrong is for the model to read. */
export async function runPatch(
  item: WireItem,
  tool: LivePatchTool,
  context: CallContext,
): Promise<Outcome> {
  const filesystem = filesystemOf(tool, context);
  const { operation, path } = operationOf(item);
  const done = (success: boolean, message: string): Outcome => {
    if (operation === null) return { output: null, success, message };
    const call: ApplyPatchCall = { callId: callIdOf(item), operation, path, success, message };
    return { output: { calls: [call] }, success, message };
  };
  const patch = patchOf(item);
  if (typeof patch === "string") return done(false, patch);
  try {
    await applyPatch(filesystem, [patch]);
  } catch (error) {
    if (error instanceof WinkError) return done(false, error.message); // the patch, or the files
    throw error;
  }
  return done(true, `${verbs[patch.type]} ${JSON.stringify(path)}`);
}

/** What is to happen to which file; `null` if it is nothing we know. */
export function operationOf(item: WireItem): {
  readonly operation: ApplyPatchCall["operation"] | null;
  readonly path: string;
} {
  const wire = recordAt(item, "operation");
  return { operation: operations.get(textAt(wire, "type")) ?? null, path: textAt(wire, "path") };
}

const operations: ReadonlyMap<string, ApplyPatchCall["operation"]> = new Map([
  ["create_file", "create"],
  ["update_file", "update"],
  ["delete_file", "delete"],
]);

const verbs = { create: "Created", update: "Updated", delete: "Deleted" } as const;

function filesystemOf({ name, live }: LivePatchTool, context: CallContext) {
  const filesystem = live.filesystem ?? context.filesystem;
  if (filesystem) return filesystem;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" filesystem`,
    value: filesystem,
    rule: "must be a Filesystem where the prompt has no workspace",
    remedy: "make the tool with applyPatchTool(config, { filesystem }), or add a workspace section",
  });
}

/** The operation, or why it is none. */
function patchOf(item: WireItem): PatchOperation | string {
  const wire = recordAt(item, "operation");
  const { operation: type, path } = operationOf(item);
  if (type === null) {
    const known = "create_file, update_file or delete_file";
    return `Operation ${show(wire["type"])} is not known: write ${known}`;
  }
  if (type === "delete") return { type, path };
  const diff = maybeTextAt(wire, "diff");
  if (diff !== null) return { type, path, diff };
  return `Patch of ${show(path)}: there is no diff: write { type, path, diff }`;
}
