import { createUnknownKeyError, PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";

/**
 * A file or image of the first request: one uploaded to the provider, a file of the host, bytes, or
 * an image URL.
 */
export type Attachment =
  | {
      /** Provider's id of an uploaded file. */
      readonly fileId: string;
    }
  | {
      /** Path of a file of the host. */
      readonly path: string;
    }
  | {
      /** Content of the file. */
      readonly bytes: Uint8Array;
      /** Name of the file. */
      readonly filename: string;
    }
  | {
      /** An `http:`, `https:` or `data:image` URL. */
      readonly imageUrl: string;
    };

const keys = ["fileId", "path", "bytes", "filename", "imageUrl"];

/** Returns a frozen copy of an attachment, or throws `PromptValidationError`. */
export function checkAttachment(attachment: Attachment, field: string): Attachment {
  if (!isPlainObject(attachment))
    throw createAttachmentError(field, attachment, "must be an object");
  const { fileId, path, bytes, filename, imageUrl } = attachment as Partial<
    Record<string, unknown>
  >;
  const sources = Object.entries({ fileId, path, bytes, imageUrl }).filter(
    ([, value]) => value !== undefined,
  );
  const unknown = Object.keys(attachment).find((key) => !keys.includes(key));
  if (unknown !== undefined)
    throw createUnknownKeyError(unknown, field, keys, PromptValidationError);
  const [kind, value] = sources[0] ?? [];
  if (sources.length !== 1)
    throw createAttachmentError(field, Object.keys(attachment), "must have exactly one source");
  if (kind === "bytes") {
    if (!(bytes instanceof Uint8Array))
      throw createAttachmentError(`${field}.bytes`, bytes, "must be a Uint8Array");
    if (!isNonBlank(filename))
      throw createAttachmentError(`${field}.filename`, filename, "must be a non-blank string");
  } else if (!isNonBlank(value))
    throw createAttachmentError(`${field}.${kind}`, value, "must be a non-blank string");
  if (kind === "imageUrl" && !/^(https?:\/\/|data:image\/)/.test(String(value))) {
    throw createAttachmentError(
      `${field}.imageUrl`,
      value,
      "must be an http, https or data:image URL",
    );
  }
  return Object.freeze({ ...attachment });
}

function isNonBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

function createAttachmentError(field: string, value: unknown, rule: string): PromptValidationError {
  const forms = quoteNames(["{ fileId }", "{ path }", "{ bytes, filename }", "{ imageUrl }"]);
  return new PromptValidationError({ field, value, rule, remedy: `use ${forms}` });
}
