import type { Block } from "./content.ts";

/** A message whose content is in blocks. */
export interface CheckedMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
  /** In the request: of several that were put together, the first. */
  readonly place: number;
}
