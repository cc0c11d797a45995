import { quoteValue } from "../../base/quote-value.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { describeOffer } from "../turn/describe-offer.ts";
import { isCodeExecution, isServerTool } from "./check/tools.ts";
import { findServerTool } from "./hosted/find-server-tool.ts";
import { createNoPagesFault, toWebQuery } from "./hosted/web-search.ts";
import { listChosenTools, type MessageState } from "./message-state.ts";
import { STRUCTURED_OUTPUT_TOOL } from "./model-tools.ts";
import { describeSdkAction, type SdkToolAction, toSdkToolUses } from "./sdk-tool-uses.ts";
import { findToolName, isBridged, removeBridgePrefix } from "./tool-names.ts";

/** Options of {@link checkMessageStep}. */
export interface StepCheckOptions {
  /** Whether the step may use tools that the client still has to load. @default true */
  readonly allowsDeferred?: boolean | undefined;
}

/**
 * Throws a `StepFault` if the request does not allow a step. Nothing of the step has been sent yet. Returns the
 * names of the tools that the client must load before the step can be performed.
 */
export function checkMessageStep(
  actions: readonly ModelAction[],
  state: MessageState,
  { allowsDeferred = true }: StepCheckOptions = {},
): readonly string[] {
  const end = actions.findIndex(
    (action) => "fail" in action || "failInStream" in action || "drop" in action,
  );
  const missing = new Set<string>();
  for (const action of end === -1 ? actions : actions.slice(0, end)) {
    const { did, names } = listToolUses(action, state);
    for (const name of names) {
      if (allowsDeferred && state.deferredTools.some((tool) => tool["name"] === name))
        missing.add(name);
      else requireOffered(name, { state, did });
    }
  }
  if (end === -1) checkForcedCall(actions, state);
  return [...missing];
}

/** The client's tools that an action uses, and what the model did, for error messages. */
interface ToolUses {
  readonly did: string;
  readonly names: readonly string[];
}

const NO_USES: ToolUses = { did: "", names: [] };

function listToolUses(action: ModelAction, state: MessageState): ToolUses {
  if ("call" in action) {
    const { name, madeUp = false } = action.call;
    const did = `called the function ${quoteValue(name)}`;
    return madeUp ? NO_USES : { did, names: [findToolName(name, state)] };
  }
  if ("compact" in action)
    throw new StepFault(
      "the model compacted the conversation, but on the Messages API the client asks for compactions. Change the step.",
    );
  if ("expireContainer" in action && !hasContainer(state))
    throw new StepFault(
      "the model expired a container, but the request has none. Offer a code execution tool, or change the step.",
    );
  if ("use" in action)
    throw new StepFault(
      `the model used the tool '${action.use.kind}', but the Messages API does not run hosted tools by kind. Call a tool of the client instead.`,
    );
  if ("search" in action || "code" in action || "shell" in action || "patch" in action)
    return listActionUses(action, state);
  return NO_USES;
}

function hasContainer({ request, tools }: MessageState): boolean {
  return request.containerId !== null || tools.some(isCodeExecution);
}

function listActionUses(action: SdkToolAction, state: MessageState): ToolUses {
  const isHosted = findServerTool(action, listChosenTools(state)) !== null;
  const isWeb = "search" in action && (isHosted || toWebQuery(action.search) !== null);
  const names = isHosted
    ? []
    : toSdkToolUses(action, state.tools).map(({ name }) => findToolName(name, state));
  const uses = { did: describeSdkAction(action), names };
  if (!isWeb || state.services.tools.web) return uses;
  for (const name of names) requireOffered(name, { state, did: uses.did });
  throw createNoPagesFault();
}

/** Throws if the request does not offer the tool, or its tool choice excludes it. */
function requireOffered(
  name: string,
  { state, did }: { readonly state: MessageState; readonly did: string },
): void {
  const chosen = listChosenTools(state);
  if (chosen.some((tool) => tool["name"] === name)) return;
  const { type, name: choice } = state.request.toolChoice;
  const isRestricted = type === "none" || type === "tool";
  const restriction = type === "tool" ? { type, name: choice } : type;
  // The agent's own tools first: the SDK offers many others.
  const named = [...chosen, ...state.deferredTools].filter(
    (tool) => typeof tool["name"] === "string" && !isServerTool(tool),
  );
  const names = named.map((tool) => String(tool["name"])).toSorted(compareBridged);
  const offer = {
    functions: names.map(removeBridgePrefix),
    hosted: chosen.filter(isServerTool).map((tool) => String(tool["type"])),
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
