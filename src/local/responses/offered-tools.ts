import { readRecords } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { WireItem } from "../../openai/wire.ts";
import { StepFault } from "../step-fault.ts";
import { describeOffer } from "../turn/describe-offer.ts";
import type { TurnInput } from "../turn/turn.ts";

/** A tool of the client. */
export interface ClientTool {
  readonly tool: WireItem;
  /** The namespace of its calls; `null` without one. As in the API, a deferred tool has its own. */
  readonly namespace: unknown;
}

/** Returns the client's tool with this name, or `null`. */
export function findClientTool(tools: readonly WireItem[], name: string): ClientTool | null {
  return listClientTools(tools).find(({ tool }) => tool["name"] === name) ?? null;
}

/** Creates the error for a call of a function that the request does not offer. */
export function createUnofferedCallFault(name: string, input: OfferInput): StepFault {
  return new StepFault(
    `the model called the function ${quoteValue(name)}, but the request does not offer it. ${describeOfferedTools(input, name)}`,
  );
}

type OfferInput = Pick<TurnInput, "tools" | "toolChoice">;

/** Describes the tools that a request offers, for the error about another one. */
export function describeOfferedTools({ tools, toolChoice }: OfferInput, name?: string): string {
  const isFree = toolChoice === "auto" || toolChoice === "required";
  const hosted = tools.flatMap(({ type }) => (CLIENT_TYPES.has(type) ? [] : [String(type)]));
  const offer = {
    functions: listClientTools(tools).map(({ tool }) => String(tool["name"])),
    hosted: [...new Set(hosted)],
    restriction: isFree ? undefined : toolChoice,
  };
  return describeOffer(offer, name);
}

const CLIENT_TYPES: ReadonlySet<unknown> = new Set(["function", "custom", "namespace"]);

function listClientTools(tools: readonly WireItem[]): readonly ClientTool[] {
  const all = tools.flatMap((tool) =>
    tool["type"] === "namespace"
      ? readRecords(tool, "tools").map((inner) => ({ tool: inner, namespace: tool["name"] }))
      : [{ tool, namespace: tool["defer_loading"] === true ? tool["name"] : null }],
  );
  return all.filter(({ tool }) => ["function", "custom"].includes(String(tool["type"])));
}
