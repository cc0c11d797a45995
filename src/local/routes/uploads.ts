import {
  readNumber,
  readRecord,
  readString,
  readStringOrNull,
  readStrings,
} from "../../base/json.ts";
import { createMissingParameterProblem, unknownParameter } from "../api-problem.ts";
import { checkQuery } from "../http/check-query.ts";
import { readMultipart } from "../http/read-multipart.ts";
import { readValidBody } from "../http/read-valid-body.ts";
import type { RouteTable } from "../http/route-table.ts";
import { fileLifetime, filePurposes, getDefaultLifetime } from "../store/file-purposes.ts";
import type { FileStore } from "../store/file-store.ts";
import { MAX_PART_BYTES, MAX_UPLOAD_BYTES } from "../uploads/part-checks.ts";
import type { StoredPart, StoredUpload } from "../uploads/upload-store.ts";
import type { Uploads } from "../uploads/uploads.ts";
import { array, integer, object, oneOf, string } from "../validators/validator.ts";
import { toWireFile } from "./files.ts";

/** Services of the upload routes. */
export interface UploadServices {
  readonly uploads: Uploads;
  readonly files: FileStore;
}

const MAX_BODY_BYTES = 2 ** 20;

const [minLifetime, maxLifetime] = fileLifetime;

const newUpload = object(
  {
    filename: string({ min: 1 }),
    purpose: oneOf(...filePurposes),
    bytes: integer({ min: 1, max: MAX_UPLOAD_BYTES }),
    mime_type: string({ min: 1 }),
  },
  {
    expires_after: object({
      anchor: oneOf("created_at"),
      seconds: integer({ min: minLifetime, max: maxLifetime }),
    }),
  },
);

const completion = object(
  { part_ids: array(string({ min: 1 }), { min: 1 }) },
  { md5: string({ pattern: /^[0-9a-f]{32}$/i }) },
);

const nothing = object({});

/** `/v1/uploads`: files that clients send in parts. */
export function uploadRoutes(routes: RouteTable, { uploads, files }: UploadServices): void {
  routes.post("/v1/uploads", async (context) => {
    checkQuery(context.req);
    const body = await readValidBody(context.req.raw, newUpload, { maxBytes: MAX_BODY_BYTES });
    const purpose = readString(body, "purpose");
    const lifetime = readNumber(readRecord(body, "expires_after"), "seconds");
    const created = uploads.create({
      filename: readString(body, "filename"),
      bytes: Number(body["bytes"]),
      purpose,
      mimeType: readString(body, "mime_type"),
      fileLifetimeSeconds: lifetime ?? getDefaultLifetime(purpose) ?? null,
    });
    return context.json(toWireUpload(created));
  });

  routes.post("/v1/uploads/:id/parts", async (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    uploads.findPending(id); // before the part arrives
    const options = { field: "data", maxBytes: MAX_PART_BYTES };
    const form = await readMultipart(context.req.raw, files.incoming, options);
    try {
      for (const name of form.fields.keys()) throw unknownParameter(name);
      if (!form.file) throw createMissingParameterProblem("data");
      return context.json(toWirePart(uploads.addPart(id, form.file)));
    } finally {
      await form[Symbol.asyncDispose]();
    }
  });

  routes.post("/v1/uploads/:id/complete", async (context) => {
    checkQuery(context.req);
    const { raw } = context.req;
    const body = await readValidBody(raw, completion, { maxBytes: MAX_BODY_BYTES });
    const parts = { partIds: readStrings(body, "part_ids"), md5: readStringOrNull(body, "md5") };
    const { upload, file } = await uploads.complete(context.req.param("id"), parts, raw.signal);
    return context.json({ ...toWireUpload(upload), file: toWireFile(file) });
  });

  routes.post("/v1/uploads/:id/cancel", async (context) => {
    checkQuery(context.req);
    await readValidBody(context.req.raw, nothing, { maxBytes: MAX_BODY_BYTES, emptyBody: {} });
    return context.json(toWireUpload(uploads.cancel(context.req.param("id"))));
  });
}

function toWireUpload(upload: StoredUpload) {
  return {
    id: upload.id,
    object: "upload",
    bytes: upload.bytes,
    created_at: upload.createdAt,
    filename: upload.filename,
    purpose: upload.purpose,
    status: upload.status,
    expires_at: upload.expiresAt,
  };
}

function toWirePart({ id, createdAt, uploadId }: StoredPart) {
  return { id, object: "upload.part", created_at: createdAt, upload_id: uploadId };
}
