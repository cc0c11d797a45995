import { randomIds } from "../../../src/local/ids.ts";
import type { PythonRun, ShellRun } from "../../../src/local/sandbox/sandbox.ts";
import { builtInCatalog } from "../../../src/local/tools/index.ts";
import type { ContainerService, NewContainer } from "../../../src/local/tools/tool-services.ts";
import { ModelSteps } from "../../../src/local/turn/model-steps.ts";
import { sealer } from "../../../src/local/turn/sealer.ts";
import type { TurnState } from "../../../src/local/turn/turn.ts";
import { UsageMeter } from "../../../src/local/turn/usage-meter.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** The results of a turn's code and commands, and its conversation. */
export interface TurnParts {
  readonly tools: readonly WireItem[];
  readonly items?: readonly WireItem[];
  readonly python?: Partial<PythonRun>;
  readonly shell?: Partial<ShellRun>;
  /** Collects the options of created containers. */
  readonly created?: NewContainer[];
  /** Collects the ids of checked containers. */
  readonly checked?: string[];
}

/** Creates the state of a new turn, with fake containers. */
export function createTurnState(parts: TurnParts): TurnState {
  const { tools, items = [] } = parts;
  return {
    input: {
      model: "any",
      instructions: null,
      items,
      tools,
      toolChoice: "auto",
      format: null,
      maxToolCalls: null,
      maxOutputTokens: null,
      parallelToolCalls: true,
      codeTimeoutMs: null,
      inputFiles: () => [],
      signal: new AbortController().signal,
      usage: new UsageMeter(),
    },
    services: {
      model: { respond: async () => [{ say: "Hello." }] },
      tools: { containers: createContainers(parts), vectorStores: { search: () => [] }, web: null },
      catalog: builtInCatalog,
      sealer: sealer(new Uint8Array(32)),
      ids: randomIds(),
      sleep: async () => undefined,
      steps: new ModelSteps(),
      runTimeoutMs: 1000,
    },
    output: [],
    hits: [],
    files: [],
    containerId: null,
    toolCalls: 0,
    messageId: null,
    begin: async () => {},
  };
}

function createContainers({
  python,
  shell,
  created = [],
  checked = [],
}: TurnParts): ContainerService {
  const nothing = { stdout: "", stderr: "", timedOut: false, truncated: false, files: [] };
  return {
    create: async (options) => {
      created.push(options);
      return { id: `cntr_${created.length}` };
    },
    check: (id) => void checked.push(id),
    retrieve: () => ({ last_active_at: 0, expires_after: { minutes: 20 } }),
    addInputs: async () => undefined,
    python: async () => ({ ...nothing, error: null, images: [], died: false, ...python }),
    shell: async () => ({ ...nothing, exitCode: 0, ...shell }),
    expire: async () => undefined,
  };
}
