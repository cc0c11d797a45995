import { Tool, type ToolOptions } from "../../../src/tools/tool.ts";
import type { ToolContext } from "../../../src/tools/tool-context.ts";
import { ToolResult } from "../../../src/tools/tool-result.ts";
import type { CrashChild } from "./crash-child.ts";

/**
 * Creates a crash test's tools. Each call notes in the ledger that it started and that it took effect. Calls of the tool
 * that the detail `needsApproval` names wait for approval.
 *
 * - `charge`: `once`
 * - `note`: `idempotent`
 * - `look`: `none`
 * - `ship`: `once` and `parallel`
 * - `book`: `once` with `reconcile`, which knows from the ledger whether the effect happened
 */
export function createCrashTools(child: CrashChild): readonly Tool[] {
  const create = (name: string, options: Partial<ToolOptions<never, string>> = {}) =>
    new Tool<unknown, string>({
      name,
      description: `Does ${name}.`,
      params: null,
      handler: (_, context) => takeEffect(child, name, context),
      needsApproval: child.details["needsApproval"] === name,
      ...options,
    });
  return [
    create("charge"),
    create("note", { effects: "idempotent" }),
    create("look", { effects: "none" }),
    create("ship", { parallel: true }),
    create("book", { reconcile: async (_, { callKey }) => reconcile(child, callKey) }),
  ];
}

async function takeEffect(child: CrashChild, tool: string, { callKey: key }: ToolContext) {
  child.ledger.add({ what: "started", tool, key });
  await child.reach(`before ${tool}`);
  child.ledger.add({ what: "effect", tool, key });
  await child.reach(`after ${tool}`);
  return ToolResult.ok(`${tool} done`);
}

function reconcile({ ledger }: CrashChild, key: string) {
  ledger.add({ what: "reconciled", tool: "book", key });
  const isDone = ledger.list("effect", "book").includes(key);
  return isDone ? ToolResult.ok("book done") : ("not-started" as const);
}
