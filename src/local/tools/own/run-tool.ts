import { orAborted } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { deepFreeze, frozenCopy } from "../../../base/freeze.ts";
import { list, show } from "../../../base/show.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { LocalTool, LocalToolCall, LocalToolContext } from "../local-tool.ts";
import type { ToolRecord } from "../tool-record.ts";
import type { ToolGuard } from "./tool-guard.ts";

/** A user's tool, and what the server made of it. */
export interface GuardedTool {
  readonly run: LocalTool["run"];
  readonly record: ToolRecord;
  readonly guard: ToolGuard;
}

/**
 * Runs one call of a user's tool and returns its items, completed and checked. Ends with the request even if
 * `run` ignores its signal. What `run` throws becomes an error that names the tool.
 */
export async function runTool(
  { run, record, guard }: GuardedTool,
  call: LocalToolCall,
  context: LocalToolContext,
): Promise<readonly WireItem[]> {
  const { signal } = context;
  let output: unknown;
  try {
    const running = async () => await run(frozenCopy(call), toOwnContext(context, guard));
    output = await orAborted(running(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ApiProblem ? error : guard.fail("run", messageOf(error));
  }
  const items: readonly unknown[] = Array.isArray(output) ? output : [output];
  if (items.length === 0) throw guard.fail("run", "it must return at least one item, got none");
  return items.map((item) => toItem(item, { record, guard, context }));
}

/** What a user's tool may use, and no more than that. */
function toOwnContext(
  { signal, newId, containers, cite }: LocalToolContext,
  guard: ToolGuard,
): LocalToolContext {
  return {
    signal,
    newId,
    containers,
    cite(hits) {
      if (!Array.isArray(hits)) throw guard.fail("run", `cite() needs a list, got ${show(hits)}`);
      cite(frozenCopy(hits));
    },
  };
}

interface ItemParts {
  readonly record: ToolRecord;
  readonly guard: ToolGuard;
  readonly context: LocalToolContext;
}

function toItem(output: unknown, { record, guard, context }: ItemParts): WireItem {
  const types = Object.keys(record.items);
  const given: WireItem = JSON.parse(JSON.stringify(guard.toItem("run", () => output)));
  const { type = types[0], id = context.newId(`${record.kind}_`) } = given;
  const known = types.find((one) => one === type);
  if (known === undefined)
    throw guard.fail("run", `type must be one of ${list(types)}, got ${show(type)}`);
  const call = record.items[known]?.answer === undefined ? {} : { call_id: context.newId("call_") };
  const item = { id, type, ...call, status: "completed", ...given };
  const problem = record.items[known]?.check?.(item, known);
  if (problem) throw guard.fail("run", `it returned an item that is refused: ${problem.message}`);
  return deepFreeze(item);
}
