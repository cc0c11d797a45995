import { ApiProblem, createMissingParameterProblem, unknownParameter } from "../api-problem.ts";
import { checkQuery, readListQuery } from "../http/check-query.ts";
import { readMultipart } from "../http/read-multipart.ts";
import type { RouteTable } from "../http/route-table.ts";
import { fileLifetime, filePurposes, getDefaultLifetime } from "../store/file-purposes.ts";
import { fileResponse } from "../store/file-response.ts";
import type { FileStore, StoredFile } from "../store/file-store.ts";
import { toPage } from "../store/paging.ts";
import { readBoundedInteger } from "../validators/validator.ts";

/** Services of the file routes. */
export interface FileServices {
  readonly files: FileStore;
  /** Called with the id of each deleted file. @default no-op */
  readonly onDelete?: ((fileId: string) => void) | undefined;
}

const FIELDS = new Set(["purpose", "expires_after[anchor]", "expires_after[seconds]"]);

/** One page of files may contain all of them. */
const PAGE = { max: 10_000, defaultLimit: 10_000 };

/** `/v1/files`: uploads that containers and vector stores refer to by id. */
export function fileRoutes(routes: RouteTable, { files, onDelete = () => {} }: FileServices): void {
  routes.post("/v1/files", async (context) => {
    checkQuery(context.req);
    const form = await readMultipart(context.req.raw, files.incoming);
    try {
      const { purpose, expiresAfterSeconds } = readFields(form.fields);
      if (!form.file) throw createMissingParameterProblem("file");
      const { path, bytes, filename = "" } = form.file;
      const added = files.add({ path, bytes, filename, purpose, expiresAfterSeconds });
      return context.json(toWireFile(added));
    } finally {
      await form[Symbol.asyncDispose]();
    }
  });

  routes.get("/v1/files", (context) => {
    const query = readListQuery(context.req, ["purpose"], PAGE);
    const page = files.list(query, context.req.query("purpose"));
    return context.json(toPage(page.files.map(toWireFile), page.hasMore));
  });

  routes.get("/v1/files/:id", (context) => {
    checkQuery(context.req);
    return context.json(toWireFile(findFile(context.req.param("id"))));
  });

  routes.get("/v1/files/:id/content", async (context) => {
    checkQuery(context.req);
    const { id, filename } = findFile(context.req.param("id"));
    return fileResponse(await files.open(id), filename);
  });

  routes.delete("/v1/files/:id", (context) => {
    checkQuery(context.req);
    const { id } = findFile(context.req.param("id"));
    files.delete(id);
    onDelete(id);
    return context.json({ id, object: "file", deleted: true });
  });

  function findFile(id: string): StoredFile {
    const file = files.get(id);
    if (!file) throw new FileProblem(404, `No such File object: ${id}`, "id");
    return file;
  }
}

/** An error of the file routes. Like OpenAI's, its body contains the message twice. */
class FileProblem extends ApiProblem {
  constructor(status: number, message: string, param: string) {
    super(status, message, { param });
  }

  override get body(): { readonly error: object; readonly detail: object } {
    return { ...super.body, detail: { message: this.message, code: this.code } };
  }
}

function readFields(fields: ReadonlyMap<string, string>): {
  readonly purpose: string;
  readonly expiresAfterSeconds: number | undefined;
} {
  for (const name of fields.keys()) if (!FIELDS.has(name)) throw unknownParameter(name);
  const purpose = fields.get("purpose");
  if (purpose === undefined) throw createMissingParameterProblem("purpose");
  if (!filePurposes.includes(purpose))
    throw createUnknownOptionProblem("purpose", purpose, filePurposes);
  return { purpose, expiresAfterSeconds: readLifetime(fields, purpose) };
}

function readLifetime(fields: ReadonlyMap<string, string>, purpose: string): number | undefined {
  const anchor = fields.get("expires_after[anchor]");
  const seconds = fields.get("expires_after[seconds]");
  if (anchor === undefined && seconds === undefined) return getDefaultLifetime(purpose);
  if (anchor === undefined) throw createMissingParameterProblem("expires_after[anchor]");
  if (seconds === undefined) throw createMissingParameterProblem("expires_after[seconds]");
  if (anchor !== "created_at")
    throw createUnknownOptionProblem("expires_after.anchor", anchor, ["created_at"]);
  return readBoundedInteger("expires_after[seconds]", seconds, fileLifetime);
}

function createUnknownOptionProblem(
  param: string,
  value: string,
  findFile: readonly string[],
): ApiProblem {
  const list = findFile.map((one) => `'${one}'`).join(", ");
  return new FileProblem(400, `'${value}' is not one of [${list}] - '${param}'`, param);
}

/** Converts a file's record to OpenAI's file object. */
export function toWireFile(file: StoredFile) {
  return {
    id: file.id,
    object: "file",
    bytes: file.bytes,
    created_at: file.createdAt,
    expires_at: file.expiresAt,
    filename: file.filename,
    purpose: file.purpose,
    status: "processed",
    status_details: null,
  };
}
