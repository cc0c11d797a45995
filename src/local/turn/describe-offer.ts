import { quoteNames, quoteValue } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";

/** The tools that a request offers the model. */
export interface Offer {
  /** Names of the client's tools. */
  readonly functions: readonly string[];
  /** Kinds of the tools that the API defines. */
  readonly hosted: readonly string[];
  /** The request's `tool_choice`, if it restricts the tools. */
  readonly restriction?: unknown;
}

/** Describes what a request offers instead of a missing tool, and the remedy. `name` is the name that was used. */
export function describeOffer({ functions, hosted, restriction }: Offer, name = ""): string {
  const near = suggestSpelling(name, functions);
  const remedy =
    near === null ? "Change the step, or offer the tool." : `Did you mean ${quoteValue(near)}?`;
  return `${describeTools({ functions, hosted, restriction })} ${remedy}`;
}

function describeTools({ functions, hosted, restriction }: Offer): string {
  const isRestricted = restriction !== undefined;
  const reason = isRestricted ? `, because its tool_choice is ${quoteValue(restriction)}` : "";
  const kinds = `the hosted tool${hosted.length === 1 ? "" : "s"} ${quoteNames(hosted)}`;
  const parts = [
    ...(functions.length > 0 ? [quoteNames(functions)] : []),
    ...(hosted.length > 0 ? [kinds] : []),
  ];
  if (parts.length === 0) return `It offers no tools${reason}.`;
  return `It offers ${isRestricted ? "only " : ""}${parts.join(" and ")}${reason}.`;
}
