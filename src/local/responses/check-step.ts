import { quoteValue } from "../../base/quote-value.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import type { TurnState } from "../turn/turn.ts";
import { createUnofferedCallFault, findClientTool } from "./offered-tools.ts";
import { findToolUse } from "./use-tool.ts";

/** Throws a `StepFault` if the request does not allow a step. Nothing of the step has run yet. */
export function checkStep(
  actions: readonly ModelAction[],
  state: TurnState,
  { survivesDrop }: { readonly survivesDrop: boolean },
): void {
  const end = actions.findIndex(
    (action) => "fail" in action || "failInStream" in action || ("drop" in action && !survivesDrop),
  );
  const performed = end === -1 ? actions : actions.slice(0, end);
  for (const action of performed) {
    if ("call" in action) checkCall(action.call, state);
    else if (isHostedCall(action)) findToolUse(action, state);
  }
  if (end === -1) checkForcedCall(actions, state);
}

/** Returns whether an action calls a hosted tool. */
function isHostedCall(action: ModelAction): boolean {
  return Object.keys(action).some((key) => HOSTED_ACTIONS.has(key));
}

const HOSTED_ACTIONS: ReadonlySet<string> = new Set(["code", "shell", "search", "patch", "use"]);

function checkCall(
  { name, madeUp = false }: Extract<ModelAction, { call: unknown }>["call"],
  { input }: TurnState,
): void {
  if (!madeUp && !findClientTool(input.tools, name)) throw createUnofferedCallFault(name, input);
}

/** A step that ends the turn must have a call if the request forces one. */
function checkForcedCall(actions: readonly ModelAction[], state: TurnState): void {
  const { input, services, output } = state;
  const forced = describeForcedCall(input.toolChoice);
  if (forced === null || services.model.mayIgnoreToolChoice) return;
  const ending = actions.find((action) => "say" in action || "compact" in action);
  if (!ending || actions.some((action) => "call" in action || isHostedCall(action))) return;
  if (output.some(({ type }) => CLIENT_CALLS.has(type) || services.catalog.byItem.has(type)))
    return;
  const did = "say" in ending ? "answered with text" : "compacted the conversation";
  throw new StepFault(
    `the model ${did}, but the request's tool_choice is ${quoteValue(input.toolChoice)}, which forces a call of ${forced}. Call it in this step, or change the tool_choice.`,
  );
}

const CLIENT_CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);

/** Describes the call that a `tool_choice` forces; `null` if it forces none. */
function describeForcedCall(choice: unknown): string | null {
  if (choice === "required") return "a tool";
  if (typeof choice !== "object" || choice === null) return null;
  const { type, mode, name, server_label: label } = Object(choice);
  if (type === "allowed_tools") return mode === "required" ? "one of the allowed tools" : null;
  if (type === "function") return `the function ${quoteValue(name)}`;
  return `the tool ${quoteValue(name ?? label ?? type)}`;
}
