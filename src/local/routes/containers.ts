import { createMissingParameterProblem, unknownParameter } from "../api-problem.ts";
import type { ContainerFileRecord } from "../containers/container-files.ts";
import type { ContainerRecord, Containers } from "../containers/containers.ts";
import { parseContainerOptions, parseFileId } from "../containers/parse-container-options.ts";
import { checkQuery, readListQuery } from "../http/check-query.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import { readMultipart } from "../http/read-multipart.ts";
import type { RouteTable } from "../http/route-table.ts";
import { fileResponse } from "../store/file-response.ts";
import type { FileStore } from "../store/file-store.ts";

/** Services of the container routes. */
export interface ContainerServices {
  readonly containers: Containers;
  /** Stores uploads and resolves file ids. */
  readonly files: FileStore;
}

const MAX_BODY_BYTES = 2 ** 20;

/** `/v1/containers` and their files. */
export function containerRoutes(
  routes: RouteTable,
  { containers, files }: ContainerServices,
): void {
  routes.post("/v1/containers", async (context) => {
    checkQuery(context.req);
    const body = await readJsonBody(context.req.raw, MAX_BODY_BYTES);
    const container = await containers.create(parseContainerOptions(body));
    return context.json(container, 200, listHeaders(container, containers));
  });

  routes.get("/v1/containers", (context) => {
    const query = readListQuery(context.req, ["name"]);
    return context.json(containers.list(query, context.req.query("name")));
  });

  routes.get("/v1/containers/:id", (context) => {
    checkQuery(context.req);
    const container = containers.retrieve(context.req.param("id"));
    return context.json(container, 200, listHeaders(container, containers));
  });

  routes.delete("/v1/containers/:id", async (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    await containers.delete(id);
    return context.json({ id, object: "container.deleted", deleted: true });
  });

  containerFileRoutes(routes, { containers, files });
}

function containerFileRoutes(routes: RouteTable, services: ContainerServices): void {
  const { containers } = services;
  routes.post("/v1/containers/:id/files", async (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    containers.check(id);
    const isForm = /^multipart\//i.test(context.req.header("content-type") ?? "");
    const add = isForm ? addFromForm : addFromJson;
    return context.json(await add(id, context.req.raw, services));
  });

  routes.get("/v1/containers/:id/files", async (context) => {
    const query = readListQuery(context.req);
    return context.json(await containers.listFiles(context.req.param("id"), query));
  });

  routes.get("/v1/containers/:id/files/:file", async (context) => {
    checkQuery(context.req);
    const [id, file] = [context.req.param("id"), context.req.param("file")];
    return context.json(await containers.retrieveFile(id, file));
  });

  routes.get("/v1/containers/:id/files/:file/content", async (context) => {
    checkQuery(context.req);
    const [id, file] = [context.req.param("id"), context.req.param("file")];
    const { handle, filename } = await containers.openFile(id, file);
    return fileResponse(handle, filename);
  });

  routes.delete("/v1/containers/:id/files/:file", async (context) => {
    checkQuery(context.req);
    const [id, file] = [context.req.param("id"), context.req.param("file")];
    await containers.deleteFile(id, file);
    return context.json({ id: file, object: "container.file.deleted", deleted: true });
  });
}

/** Reports a memory limit that this machine cannot give: `x-wink-memory-limit: 18078m`. */
function listHeaders(
  { memory_limit: tier }: ContainerRecord,
  containers: Containers,
): Record<string, string> {
  const bytes = containers.findReducedMemory(tier);
  return bytes === null ? {} : { "x-wink-memory-limit": `${Math.floor(bytes / 2 ** 20)}m` };
}

async function addFromJson(
  id: string,
  request: Request,
  { containers }: ContainerServices,
): Promise<ContainerFileRecord> {
  return await containers.copyFile(id, parseFileId(await readJsonBody(request, MAX_BODY_BYTES)));
}

/** Adds an uploaded file, or copies one by id: the official client sends either as a form. */
async function addFromForm(
  id: string,
  request: Request,
  { containers, files }: ContainerServices,
): Promise<ContainerFileRecord> {
  const form = await readMultipart(request, files.incoming);
  try {
    const fields = Object.fromEntries(form.fields);
    if (!form.file && form.fields.size === 0) throw createMissingParameterProblem("file");
    if (!form.file) return await containers.copyFile(id, parseFileId(fields));
    for (const key of form.fields.keys()) throw unknownParameter(key);
    return await containers.upload(id, form.file);
  } finally {
    await form[Symbol.asyncDispose]();
  }
}
