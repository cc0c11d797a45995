import { stableStringify } from "../../base/json.ts";
import { sha256 } from "../../base/sha256.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { PromptRendered } from "../events.ts";

/** The state of {@link traceSlice}. */
export interface Trace {
  /** Digests of the last rendering of each prompt, by the prompt's name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Number of other events that were stored for readers. */
  readonly events: number;
}

/** Events of sections that only their own entry points declare. */
const SECTION_NOTICES = Object.fromEntries(
  ["McpToolOmitted", "McpRefreshFailed"].map((type) => [type, addEvent]),
);

/**
 * Makes a stored session contain the events that explain its run and that no other slice needs, such as
 * `PromptRendered` and `ContainerReplaced`: a store keeps only events that change a slice. A prompt is stored again
 * only if it differs from its last rendering. The state does not grow with the number of events.
 */
export const traceSlice = addLibrarySlice(
  defineSlice<Trace>("wink.trace", {
    initial: { prompts: {}, events: 0 },
    policy: "log",
    on: {
      ...SECTION_NOTICES,
      PromptRendered: addPrompt,
      HostedToolOmitted: addEvent,
      OverrideSkipped: addEvent,
      HistoryRepaired: addEvent,
      ContainerReplaced: addEvent,
      UnpackingFailed: addEvent,
      WorkspaceSynced: addEvent,
      ContextCompacted: addEvent,
      CompactionFailed: addEvent,
      EgressReported: addEvent,
      ReducerFailed: addEvent,
    },
  }),
);

function addPrompt(trace: Trace, { promptName, messages, tools, hostedTools }: PromptRendered) {
  const digest = sha256(stableStringify({ messages, tools, hostedTools }));
  const known = Object.hasOwn(trace.prompts, promptName) ? trace.prompts[promptName] : null;
  if (known === digest) return trace;
  return { ...trace, prompts: { ...trace.prompts, [promptName]: digest } };
}

function addEvent(trace: Trace): Trace {
  return { ...trace, events: trace.events + 1 };
}
