import { raceAbort } from "../../../base/clock.ts";
import { getErrorMessage } from "../../../base/errors.ts";
import { copyAndFreeze, deepFreeze } from "../../../base/freeze.ts";
import { quoteNames, quoteValue } from "../../../base/quote-value.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { LocalTool, LocalToolCall, LocalToolContext } from "../local-tool.ts";
import type { ToolRecord } from "../tool-record.ts";
import type { ToolGuard } from "./tool-guard.ts";

/** A custom tool with its record and guard. */
export interface GuardedTool {
  readonly run: LocalTool["run"];
  readonly record: ToolRecord;
  readonly guard: ToolGuard;
}

/**
 * Calls a custom tool once and returns its items, completed and validated. Ends with the request even if
 * `run` ignores its signal. An error thrown by `run` becomes an error that names the tool.
 */
export async function runCustomTool(
  { run, record, guard }: GuardedTool,
  call: LocalToolCall,
  context: LocalToolContext,
): Promise<readonly WireItem[]> {
  const { signal } = context;
  let output: unknown;
  try {
    const startRun = async () => await run(copyAndFreeze(call), restrictContext(context, guard));
    output = await raceAbort(startRun(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ApiProblem ? error : guard.fail("run", getErrorMessage(error));
  }
  const items: readonly unknown[] = Array.isArray(output) ? output : [output];
  if (items.length === 0) throw guard.fail("run", "it must return at least one item, got none");
  return items.map((item) => completeItem(item, { record, guard, context }));
}

/** Restricts the context to the members for custom tools. */
function restrictContext(
  { signal, newId, containers, cite }: LocalToolContext,
  guard: ToolGuard,
): LocalToolContext {
  return {
    signal,
    newId,
    containers,
    cite(hits) {
      if (!Array.isArray(hits))
        throw guard.fail("run", `cite() needs an array, got ${quoteValue(hits)}`);
      cite(copyAndFreeze(hits));
    },
  };
}

interface ItemParts {
  readonly record: ToolRecord;
  readonly guard: ToolGuard;
  readonly context: LocalToolContext;
}

function completeItem(output: unknown, { record, guard, context }: ItemParts): WireItem {
  const types = Object.keys(record.items);
  const given: WireItem = JSON.parse(JSON.stringify(guard.toItem("run", () => output)));
  const { type = types[0], id = context.newId(`${record.kind}_`) } = given;
  const known = types.find((one) => one === type);
  if (known === undefined)
    throw guard.fail("run", `type must be one of ${quoteNames(types)}, got ${quoteValue(type)}`);
  const call = record.items[known]?.answer === undefined ? {} : { call_id: context.newId("call_") };
  const item = { id, type, ...call, status: "completed", ...given };
  const problem = record.items[known]?.check?.(item, known);
  if (problem) throw guard.fail("run", `it returned an invalid item: ${problem.message}`);
  return deepFreeze(item);
}
