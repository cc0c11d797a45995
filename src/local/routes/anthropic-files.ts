import { basename } from "node:path";
import { ApiProblem } from "../api-problem.ts";
import type { ContainerFileRecord } from "../containers/container-files.ts";
import type { Containers } from "../containers/containers.ts";
import { isAnthropicRequest } from "../http/is-anthropic-request.ts";
import { readMultipart } from "../http/read-multipart.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { RouteTable } from "../http/route-table.ts";
import type { Ids } from "../ids.ts";
import { anthropicWording } from "../messages/check/anthropic-wording.ts";
import { createInvalidProblem } from "../messages/check/invalid-problem.ts";
import { fileResponse } from "../store/file-response.ts";
import type { FileStore, StoredFile } from "../store/file-store.ts";
import { getMimeType } from "../store/mime-type.ts";
import { readPageQuery } from "../store/paging.ts";
import { readBoundedInteger } from "../validators/validator.ts";

/** Services of Anthropic's file routes. */
export interface AnthropicFileServices {
  readonly files: FileStore;
  readonly containers: Containers;
  readonly ids: Ids;
  /** Called with the id of each deleted upload. */
  readonly onDelete: (fileId: string) => void;
}

/** The range of `expires_in_seconds`: one hour to 30 days, as for OpenAI's files. */
const LIFETIME = [3600, 2_592_000] as const;

/**
 * `/v1/files` for Anthropic's clients: uploads, which requests refer to by id, and the files that code execution
 * created. As on Anthropic's API, only the latter can be downloaded.
 */
export function anthropicFileRoutes(routes: RouteTable, services: AnthropicFileServices): void {
  const { files, containers, ids, onDelete } = services;
  const anthropic = routes.where(isAnthropicRequest);
  anthropic.post("/v1/files", async (context) => {
    const form = await readMultipart(context.req.raw, files.incoming);
    try {
      const expiresAfterSeconds = readLifetime(form.fields);
      if (!form.file) throw anthropicWording.missing("file");
      const { path, bytes, filename = "" } = form.file;
      const purpose = "user_data";
      const added = files.add({ path, bytes, filename, purpose, expiresAfterSeconds });
      return respond(context, toUploadedFile(added));
    } finally {
      await form[Symbol.asyncDispose]();
    }
  });

  anthropic.get("/v1/files", (context) => {
    const page = files.list(readPageQuery((name) => context.req.query(PARAMETERS.get(name) ?? "")));
    const data = page.files.map(toUploadedFile);
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    const next_page = page.hasMore ? last_id : null;
    return respond(context, { data, has_more: page.hasMore, first_id, last_id, next_page });
  });

  anthropic.get("/v1/files/:id", async (context) => {
    const id = context.req.param("id");
    const upload = files.get(id);
    if (upload) return respond(context, toUploadedFile(upload));
    const created = await containers.retrieveFile(findContainer(id), id);
    return respond(context, toCreatedFile(created));
  });

  anthropic.get("/v1/files/:id/content", async (context) => {
    const id = context.req.param("id");
    if (files.get(id))
      throw createInvalidProblem("", `File '${id}' is not downloadable: it is an upload.`);
    const { handle, filename } = await containers.openFile(findContainer(id), id);
    const response = await fileResponse(handle, filename);
    response.headers.set("request-id", ids.next("req_"));
    return response;
  });

  anthropic.delete("/v1/files/:id", async (context) => {
    const id = context.req.param("id");
    if (files.get(id)) {
      files.delete(id);
      onDelete(id);
    } else await containers.deleteFile(findContainer(id), id);
    return respond(context, { id, type: "file_deleted" });
  });

  function findContainer(fileId: string): string {
    const id = containers.findContainer(fileId);
    if (id === null) throw new ApiProblem(404, `File not found: ${fileId}`);
    return id;
  }

  function respond(context: RouteContext, body: object): Response {
    context.setHeader("request-id", ids.next("req_"));
    return context.json(body);
  }
}

function readLifetime(fields: ReadonlyMap<string, string>): number | undefined {
  const odd = [...fields.keys()].find((name) => name !== "expires_in_seconds");
  if (odd !== undefined) throw anthropicWording.unknownField(odd);
  const seconds = fields.get("expires_in_seconds");
  return seconds === undefined
    ? undefined
    : readBoundedInteger("expires_in_seconds", seconds, LIFETIME);
}

/** Anthropic's names of the parameters of a list. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ["after", "page"],
  ["before", "before_id"],
  ["limit", "limit"],
]);

function toUploadedFile({ id, filename, bytes, createdAt, expiresAt }: StoredFile) {
  return {
    id,
    type: "file",
    filename,
    mime_type: toMimeType(filename),
    size_bytes: bytes,
    created_at: toIsoTime(createdAt),
    downloadable: false,
    expires_at: expiresAt === null ? null : toIsoTime(expiresAt),
  };
}

function toCreatedFile({ id, path, bytes, created_at: createdAt }: ContainerFileRecord) {
  const filename = basename(path);
  return {
    id,
    type: "file",
    filename,
    mime_type: toMimeType(filename),
    size_bytes: bytes,
    created_at: toIsoTime(createdAt),
    downloadable: true,
    expires_at: null,
  };
}

function toMimeType(filename: string): string {
  return getMimeType(filename) ?? "application/octet-stream";
}

function toIsoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
