import type { EntryKind } from "../entry.ts";

/** The state of the page in its URL's fragment, so that a link leads to it. */
export interface PageLocation {
  /** Id of the session; `null` for the list. */
  readonly session: string | null;
  /** Key of the selected entry; `null` for the overview. */
  readonly at: string | null;
  readonly query: string;
  readonly kinds: readonly EntryKind[];
  readonly onlyFailed: boolean;
}

/** Kinds that a reader can filter by, with their names. */
export const KINDS: readonly (readonly [EntryKind, string])[] = [
  ["turn", "Turns"],
  ["call", "Calls"],
  ["prompt", "Prompts"],
  ["files", "Files"],
  ["context", "Context"],
  ["rollback", "Rollbacks"],
  ["event", "Events"],
];

/** Reads a fragment such as `#session=demo&at=1.3&q=vent`. Unknown parts are ignored. */
export function parseLocation(fragment: string): PageLocation {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const kinds = (fields.get("kinds") ?? "").split(",");
  return {
    session: fields.get("session"),
    at: fields.get("at"),
    query: fields.get("q") ?? "",
    kinds: KINDS.flatMap(([kind]) => (kinds.includes(kind) ? kind : [])),
    onlyFailed: fields.get("failed") === "1",
  };
}

/** Formats a location as a fragment. */
export function formatLocation({ session, at, query, kinds, onlyFailed }: PageLocation): string {
  const fields = new URLSearchParams();
  if (session !== null) fields.set("session", session);
  if (at !== null) fields.set("at", at);
  if (query !== "") fields.set("q", query);
  if (kinds.length > 0) fields.set("kinds", kinds.join(","));
  if (onlyFailed) fields.set("failed", "1");
  const text = fields.toString();
  return text === "" ? "#" : `#${text}`;
}
