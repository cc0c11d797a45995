import { defineSlice } from "../session/slice.ts";

/** Whether a section stands in the prompt as it is, or as its summary, without tools and children. */
export type Visibility = "full" | "summary";

declare module "../session/event-map.ts" {
  interface EventMap {
    VisibilityChanged: VisibilityChanged;
  }
}

/** A section is to be shown otherwise from the next request on; dispatch it to open or close one. */
export interface VisibilityChanged {
  readonly type: "VisibilityChanged";
  readonly sessionId: string;
  readonly promptName: string;
  /** Keys from the root, joined by dots. */
  readonly path: string;
  /** `null`: as the section itself says. */
  readonly visibility: Visibility | null;
}

/** What a session says of the visibility of sections: by prompt, then by path. */
export type VisibilityState = Readonly<Record<string, Readonly<Record<string, Visibility>>>>;

/** Sections that were opened or closed in a session; a failed call's are rolled back. */
export const visibilitySlice = defineSlice<VisibilityState>("wink.visibility", {
  initial: {},
  on: {
    VisibilityChanged: (state, { promptName, path, visibility }) => {
      const { [path]: _before, ...others } = state[promptName] ?? {};
      const paths = visibility === null ? others : { ...others, [path]: visibility };
      return { ...state, [promptName]: paths };
    },
  },
});
