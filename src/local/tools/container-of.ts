import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { TurnState } from "../responses/turn.ts";
import type { ContainerService } from "./ports.ts";

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

/** Refuses a request that names a dead container, in its tools or in what it goes on from. */
export function checkContainers(
  tools: readonly WireItem[],
  items: readonly WireItem[],
  containers: Pick<ContainerService, "check">,
): void {
  const named = tools.map(({ container, environment }) => namedIn(container ?? environment));
  const used = items.map((item) =>
    item["type"] === "code_interpreter_call" ? containerIn(item) : null,
  );
  for (const id of new Set([...named, ...used])) if (id !== null) containers.check(id);
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
  const { memory_limit: memoryLimit, file_ids: fileIds } = isPlainObject(place) ? place : {};
  const { id } = await services.tools.containers.create({
    name: "auto",
    memoryLimit: typeof memoryLimit === "string" ? memoryLimit : undefined,
    fileIds: Array.isArray(fileIds) ? fileIds.map(String) : undefined,
  });
  return id;
}
