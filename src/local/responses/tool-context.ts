import type { ToolContext } from "../tools/tool-record.ts";
import type { TurnState } from "../turn/turn.ts";
import { resolveContainer } from "./resolve-container.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Creates the context for a turn's hosted tool calls. */
export function createToolContext(state: TurnState): ToolContext {
  const { input, services } = state;
  const { containers } = services.tools;
  const limits = {
    timeoutMs: services.runTimeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal: input.signal,
  };
  const { codeTimeoutMs } = input;
  const codeLimits = {
    ...limits,
    timeoutMs: Math.min(limits.timeoutMs, codeTimeoutMs ?? limits.timeoutMs),
  };
  const addFiles = (containerId: string, files: readonly { id: string; path: string }[]) => {
    for (const { id, path } of files) state.files.push({ id, path, containerId });
  };
  return {
    signal: input.signal,
    services: services.tools,
    begin: state.begin,
    tools: input.tools,
    newId: (prefix) => services.ids.next(prefix),
    cite: (hits) => {
      state.hits = hits;
    },
    containers: {
      resolve: (place) => resolveContainer(place, state),
      async python(id, code) {
        const run = await containers.python(id, code, codeLimits);
        addFiles(id, run.files);
        return run;
      },
      async shell(id, command) {
        const run = await containers.shell(id, command, limits);
        addFiles(id, run.files);
        return run;
      },
    },
  };
}
