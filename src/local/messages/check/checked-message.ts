import type { Block } from "./content.ts";

/** A validated message with its content as blocks. */
export interface CheckedMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
  /** The index in the request. If several messages were merged, the index of the first. */
  readonly place: number;
}
