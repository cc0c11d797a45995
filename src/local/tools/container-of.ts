import { isPlainObject } from "../../base/freeze.ts";
import { recordAt, recordsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { noNetwork, noSkills } from "../containers/container-request.ts";
import type { ContainerService } from "../turn/ports.ts";
import type { TurnState } from "../turn/turn.ts";

/**
 * The container that a tool runs in: the one it names; else the one of this turn; else, as the API
 * does, one that an earlier call of this conversation names; else a new one.
 */
export async function containerOf(place: unknown, state: TurnState): Promise<string> {
  const { containers } = state.services.tools;
  const named = namedIn(place);
  if (named !== null) {
    containers.check(named);
    return named;
  }
  state.containerId ??= liveOneIn(state) ?? (await made(place, state));
  return state.containerId;
}

/**
 * Refuses a request that names a dead container, in its tools or in what it goes on from, or that
 * wants a new one to have what none has here.
 */
export function checkContainers(
  tools: readonly WireItem[],
  items: readonly WireItem[],
  containers: Pick<ContainerService, "check">,
): void {
  const added = items.filter(({ type }) => type === "additional_tools");
  const offered = [
    ...tools.map((tool, place) => ({ tool, path: `tools[${place}]` })),
    ...added
      .flatMap((item) => recordsAt(item, "tools"))
      .map((tool, place) => ({ tool, path: `additional_tools.tools[${place}]` })),
  ];
  for (const { tool, path } of offered) refuseUnavailable(tool, path);
  const named = offered.map(({ tool }) => namedIn(tool["container"] ?? tool["environment"]));
  const used = items.map((item) =>
    item["type"] === "code_interpreter_call" ? containerIn(item) : null,
  );
  for (const id of new Set([...named, ...used])) if (id !== null) containers.check(id);
}

/** The same as `POST /v1/containers` does. Skills of a local environment are the client's. */
function refuseUnavailable(tool: WireItem, path: string): void {
  const key = tool["type"] === "shell" ? "environment" : "container";
  const place = recordAt(tool, key);
  if (place["type"] !== "auto" && place["type"] !== "container_auto") return;
  const policy = recordAt(place, "network_policy");
  if (policy["type"] === "allowlist") throw noNetwork(`${path}.${key}.network_policy.type`);
  if (place["skills"] !== undefined) throw noSkills(`${path}.${key}.skills`);
}

function namedIn(place: unknown): string | null {
  if (typeof place === "string") return place;
  if (!isPlainObject(place)) return null;
  const { container_id: id } = place;
  return typeof id === "string" ? id : null;
}

/** A call that names a dead container is refused, as by the API: its history must go first. */
function liveOneIn({ input, services }: TurnState): string | null {
  const item = input.items.findLast((one) => containerIn(one) !== null);
  const id = item ? containerIn(item) : null;
  if (id !== null) services.tools.containers.check(id);
  return id;
}

/** The container that a call ran in. */
export function containerIn(item: WireItem): string | null {
  const { type, container_id: id, environment } = item;
  if (type === "code_interpreter_call") return typeof id === "string" ? id : null;
  return type === "shell_call" ? namedIn(environment) : null;
}

async function made(place: unknown, { services }: TurnState): Promise<string> {
  const wanted = isPlainObject(place) ? place : {};
  const { memory_limit: memoryLimit, file_ids: fileIds, network_policy: policy } = wanted;
  const { id } = await services.tools.containers.create({
    name: "auto",
    memoryLimit: typeof memoryLimit === "string" ? memoryLimit : undefined,
    fileIds: Array.isArray(fileIds) ? fileIds.map(String) : undefined,
    networkPolicy: isPlainObject(policy) ? { type: "disabled" } : undefined,
  });
  return id;
}
