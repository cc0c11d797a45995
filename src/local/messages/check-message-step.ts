import { quoteValue } from "../../base/quote-value.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { describeOffer } from "../turn/describe-offer.ts";
import { isWebSearch } from "./check/tools.ts";
import type { MessageState } from "./message-state.ts";
import { STRUCTURED_OUTPUT_TOOL } from "./model-tools.ts";
import { describeSdkAction, type SdkToolAction, toSdkToolUses } from "./sdk-tool-uses.ts";
import { findOfferedToolName, isBridged, removeBridgePrefix } from "./tool-names.ts";
import { createNoPagesFault, toWebQuery } from "./web-search.ts";

/** Throws a `StepFault` if the request does not allow a step. Nothing of the step has been sent yet. */
export function checkMessageStep(actions: readonly ModelAction[], state: MessageState): void {
  const end = actions.findIndex(
    (action) => "fail" in action || "failInStream" in action || "drop" in action,
  );
  for (const action of end === -1 ? actions : actions.slice(0, end)) checkAction(action, state);
  if (end === -1) checkForcedCall(actions, state);
}

function checkAction(action: ModelAction, state: MessageState): void {
  if ("call" in action) {
    const { name, madeUp = false } = action.call;
    if (!madeUp)
      requireOffered(findOfferedToolName(state.tools, name), {
        state,
        did: `called the function ${quoteValue(name)}`,
      });
    return;
  }
  if ("compact" in action)
    throw new StepFault(
      "the model compacted the conversation, but the Messages API has no compaction item. Change the step.",
    );
  if ("expireContainer" in action)
    throw new StepFault(
      "the model expired a container, but the Messages API has no containers. Change the step.",
    );
  if ("use" in action)
    throw new StepFault(
      `the model used the tool '${action.use.kind}', but the Messages API does not run hosted tools by kind. Call a tool of the client instead.`,
    );
  if ("search" in action) checkSearch(action, state);
  if ("code" in action || "shell" in action || "patch" in action) checkUses(action, state);
}

function checkSearch(action: Extract<ModelAction, { search: unknown }>, state: MessageState): void {
  const isQuery = toWebQuery(action.search) !== null;
  if (!isQuery || !listChosen(state).some(isWebSearch)) checkUses(action, state);
  if (isQuery && !state.services.tools.web) throw createNoPagesFault();
}

/** Checks the tools of the Claude Agent SDK that an action calls. */
function checkUses(action: SdkToolAction, state: MessageState): void {
  const did = describeSdkAction(action);
  for (const { name } of toSdkToolUses(action, state.tools)) requireOffered(name, { state, did });
}

/** Throws if the request does not offer the tool, or its tool choice excludes it. */
function requireOffered(
  name: string,
  { state, did }: { readonly state: MessageState; readonly did: string },
): void {
  const chosen = listChosen(state);
  if (chosen.some((tool) => tool["name"] === name)) return;
  const { type, name: choice } = state.request.toolChoice;
  const isRestricted = type === "none" || type === "tool";
  const restriction = type === "tool" ? { type, name: choice } : type;
  // The agent's own tools first: the SDK offers many others.
  const named = chosen.filter((tool) => typeof tool["name"] === "string" && !isWebSearch(tool));
  const names = named.map((tool) => String(tool["name"])).toSorted(compareBridged);
  const offer = {
    functions: names.map(removeBridgePrefix),
    hosted: chosen.filter(isWebSearch).map((tool) => String(tool["type"])),
    restriction: isRestricted ? restriction : undefined,
  };
  const missing = removeBridgePrefix(name);
  const what = did.includes(quoteValue(missing)) ? "it" : `the tool ${quoteValue(missing)}`;
  throw new StepFault(
    `the model ${did}, but the request does not offer ${what}. ${describeOffer(offer, missing)}`,
  );
}

function compareBridged(one: string, other: string): number {
  return Number(isBridged(other)) - Number(isBridged(one));
}

/** Returns the tools that the request's tool choice allows. */
function listChosen({ request, tools }: MessageState): readonly WireItem[] {
  const { type, name } = request.toolChoice;
  return type === "tool" ? tools.filter((tool) => tool["name"] === name) : tools;
}

/** A step that ends the message must have a call if the tool choice forces one. */
function checkForcedCall(actions: readonly ModelAction[], state: MessageState): void {
  const { request, tools, blocks, services } = state;
  const { type, name } = request.toolChoice;
  if ((type !== "any" && type !== "tool") || services.model.mayIgnoreToolChoice) return;
  const takesAnswer = tools.some((tool) => tool["name"] === STRUCTURED_OUTPUT_TOOL);
  const isCall = (action: ModelAction) =>
    Object.keys(action).some((key) => CALLS.has(key)) ||
    ("say" in action && typeof action.say === "object" && takesAnswer);
  if (!actions.some((action) => "say" in action) || actions.some(isCall)) return;
  if (blocks.some(({ block }) => block.type.endsWith("tool_use"))) return;
  const forced = type === "any" ? "a tool" : `the tool ${quoteValue(name)}`;
  const choice = type === "any" ? { type } : { type, name };
  throw new StepFault(
    `the model answered with text, but the request's tool_choice is ${quoteValue(choice)}, which forces a call of ${forced}. Call it in this step, or change the tool_choice.`,
  );
}

const CALLS: ReadonlySet<string> = new Set(["call", "code", "shell", "search", "patch"]);
