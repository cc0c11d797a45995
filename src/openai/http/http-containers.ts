import type { Http, SendOptions } from "./http.ts";
import { pathPart } from "./http.ts";
import { withRequestId } from "./result.ts";

/** Containers over our own HTTP, in the official client's form. */
export function containersOver(http: Http) {
  return Object.freeze({
    create: async (body: object, options?: SendOptions) =>
      withRequestId(await http.post("/containers", JSON.stringify(body), options)),
    retrieve: async (containerId: string, options?: SendOptions) =>
      withRequestId(await http.json({ method: "GET", path: containerPath(containerId) }, options)),
    delete: async (containerId: string, options?: SendOptions) =>
      await http.delete(containerPath(containerId), options),
    files: filesOver(http),
  });
}

function filesOver(http: Http) {
  return Object.freeze({
    create: async (containerId: string, { file }: { file: File }, options?: SendOptions) => {
      const call = {
        method: "POST",
        path: filesPath(containerId),
        body: [["file", file]],
      } as const;
      return withRequestId(await http.json(call, options));
    },
    list: async (containerId: string, query: object, options?: SendOptions) => {
      const call = { method: "GET", path: filesPath(containerId), query: textsIn(query) } as const;
      return withRequestId(await http.json(call, options));
    },
    delete: async (fileId: string, { container_id }: InContainer, options?: SendOptions) =>
      await http.delete(filePath(container_id, fileId), options),
    content: Object.freeze({
      retrieve: async (fileId: string, { container_id }: InContainer, options?: SendOptions) =>
        await http.binary(`${filePath(container_id, fileId)}/content`, options),
    }),
  });
}

interface InContainer {
  readonly container_id: string;
}

function containerPath(containerId: string): string {
  return `/containers/${pathPart(containerId, "containerId")}`;
}

function filesPath(containerId: string): string {
  return `${containerPath(containerId)}/files`;
}

function filePath(containerId: string, fileId: string): string {
  return `${filesPath(containerId)}/${pathPart(fileId, "fileId")}`;
}

function textsIn(query: object): Record<string, string> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
