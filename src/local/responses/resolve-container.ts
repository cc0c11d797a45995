import { isPlainObject } from "../../base/freeze.ts";
import { readRecord } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { createNetworkProblem, createSkillsProblem } from "../containers/create-network-problem.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { ContainerService } from "../tools/tool-services.ts";
import type { TurnState } from "../turn/turn.ts";

/**
 * Returns the container that a tool runs in, with the files of the conversation's input, as in the API. In order
 * of precedence: the container it names, the turn's container, the newest container in the conversation's calls
 * (as the API does), or a new container.
 */
export async function resolveContainer(place: unknown, state: TurnState): Promise<string> {
  const { services, input } = state;
  const id = await findContainer(place, state);
  const files = input.inputFiles();
  if (files.length > 0) await services.tools.containers.addInputs(id, files);
  return id;
}

async function findContainer(place: unknown, state: TurnState): Promise<string> {
  const { containers } = state.services.tools;
  const named = readContainerId(place);
  if (named !== null) {
    containers.check(named);
    return named;
  }
  state.containerId ??= findLiveContainer(state) ?? (await createContainer(place, state));
  return state.containerId;
}

/**
 * Rejects a request that names a lost container, in its tools or in the conversation it continues, or whose tools
 * require container features that the local provider does not have.
 */
export function checkContainers(
  tools: readonly WireItem[],
  items: readonly WireItem[],
  { containers, catalog }: ContainerCheck,
): void {
  const offered = [
    ...tools.map((tool, place) => ({ tool, path: `tools[${place}]` })),
    ...catalog
      .listAddedTools(items)
      .map((tool, place) => ({ tool, path: `additional_tools.tools[${place}]` })),
  ];
  const places = offered.flatMap(({ tool, path }) => {
    const known = catalog.byType.get(tool["type"]);
    const field = known ? known.containerField : "container";
    return field === undefined ? [] : [{ place: tool[field], path: `${path}.${field}` }];
  });
  for (const { place, path } of places) rejectUnavailable(place, path);
  const named = places.map(({ place }) => readContainerId(place));
  const used = items.map((item) => {
    const isNeeded = catalog.byItem.get(item["type"])?.needsContainer;
    return isNeeded ? catalog.findContainer(item) : null;
  });
  for (const id of new Set([...named, ...used])) if (id !== null) containers.check(id);
}

/** Services for {@link checkContainers}. */
export interface ContainerCheck {
  readonly containers: Pick<ContainerService, "check">;
  readonly catalog: ToolCatalog;
}

/** Rejects the options that `POST /v1/containers` rejects. Skills of a local environment belong to the client. */
function rejectUnavailable(place: unknown, path: string): void {
  if (!isPlainObject(place)) return;
  if (place["type"] !== "auto" && place["type"] !== "container_auto") return;
  const policy = readRecord(place, "network_policy");
  if (policy["type"] === "allowlist") throw createNetworkProblem(`${path}.network_policy.type`);
  if (place["skills"] !== undefined) throw createSkillsProblem(`${path}.skills`);
}

function readContainerId(place: unknown): string | null {
  if (typeof place === "string") return place;
  if (!isPlainObject(place)) return null;
  const { container_id: id } = place;
  return typeof id === "string" ? id : null;
}

/**
 * Like the API, rejects a conversation that names a lost container: the call must be removed from the history
 * first.
 */
function findLiveContainer({ input, services }: TurnState): string | null {
  const { tools, catalog } = services;
  const item = input.items.findLast((one) => catalog.findContainer(one) !== null);
  const id = item ? catalog.findContainer(item) : null;
  if (id !== null) tools.containers.check(id);
  return id;
}

async function createContainer(place: unknown, { services }: TurnState): Promise<string> {
  const options = isPlainObject(place) ? place : {};
  const { memory_limit: memoryLimit, file_ids: fileIds, network_policy: policy } = options;
  const { id } = await services.tools.containers.create({
    name: "auto",
    memoryLimit: typeof memoryLimit === "string" ? memoryLimit : undefined,
    fileIds: Array.isArray(fileIds) ? fileIds.map(String) : undefined,
    networkPolicy: isPlainObject(policy) ? { type: "disabled" } : undefined,
  });
  return id;
}
