import { defineSlice } from "../session/define-slice.ts";
import { addLibrarySlice } from "../session/library-slices.ts";

/** Whether a section is shown in full, or as its summary without tools and children. */
export type Visibility = "full" | "summary";

declare module "../session/event-map.ts" {
  /** Adds the event to the event map. */
  interface EventMap {
    /** A section's visibility changes from the next request on. */
    VisibilityChanged: VisibilityChanged;
  }
}

/**
 * Changes how a section is shown from the next request on. Dispatch it to open or close a section.
 */
export interface VisibilityChanged {
  /** Name of the event. */
  readonly type: "VisibilityChanged";
  /** Id of the session. */
  readonly sessionId: string;
  /** Name of the prompt. */
  readonly promptName: string;
  /** Keys of the section from the root, joined by dots. */
  readonly path: string;
  /** The new visibility; `null` restores the section's own setting. */
  readonly visibility: Visibility | null;
}

/** Visibility of sections set in a session: by prompt name, then by section path. */
export type VisibilityState = Readonly<Record<string, Readonly<Record<string, Visibility>>>>;

/** Sections opened or closed in a session. Changes of a failed call are rolled back. */
export const visibilitySlice = addLibrarySlice(
  defineSlice<VisibilityState>("wink.visibility", {
    initial: {},
    on: {
      VisibilityChanged: (state, { promptName, path, visibility }) => {
        const { [path]: _before, ...others } = state[promptName] ?? {};
        const paths = visibility === null ? others : { ...others, [path]: visibility };
        return { ...state, [promptName]: paths };
      },
    },
  }),
);
