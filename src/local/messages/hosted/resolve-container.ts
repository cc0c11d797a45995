import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import { listInputFiles } from "../../input-files.ts";
import { createInvalidProblem } from "../check/invalid-problem.ts";
import type { MessageRequest } from "../check/request.ts";
import type { MessageState } from "../message-state.ts";

/** Rejects a request that names a container which does not exist or has expired. */
export function checkContainer(
  { containerId }: MessageRequest,
  { tools }: Pick<MessageState["services"], "tools">,
): void {
  if (containerId === null) return;
  try {
    tools.containers.check(containerId);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const remedy = "Omit `container` to get a new one.";
    throw createInvalidProblem(
      "container",
      `Container '${containerId}' not found or expired. ${remedy}`,
    );
  }
}

/**
 * Returns the container in which the code of a message runs, with the files that the request uploads to it: the
 * one that the request names, or a new one.
 */
export async function resolveContainer(state: MessageState): Promise<string> {
  const { request, services } = state;
  const { containers } = services.tools;
  state.containerId ??= request.containerId ?? (await containers.create({ name: "auto" })).id;
  const uploads = request.messages
    .flatMap(({ content }) => content)
    .filter(({ type }) => type === "container_upload")
    .map(({ file_id: id }) => ({ type: "input_file", file_id: id }));
  if (uploads.length > 0)
    await containers.addInputs(state.containerId, listInputFiles([{ content: uploads }]));
  return state.containerId;
}

/** Returns the container of a message for the client, or `null` if the message has none. */
export function describeContainer({ containerId, services }: MessageState): WireItem | null {
  if (containerId === null) return null;
  const { last_active_at: since, expires_after: life } =
    services.tools.containers.retrieve(containerId);
  const end = new Date((since + life.minutes * 60) * 1000);
  return { id: containerId, expires_at: end.toISOString(), skills: null };
}

/** Expires the container of a message: the one in which its code ran, or the one that the request names. */
export async function expireContainer({
  containerId,
  request,
  services,
}: MessageState): Promise<void> {
  const id = containerId ?? request.containerId;
  if (id !== null) await services.tools.containers.expire(id);
}
