import { PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { list } from "../base/show.ts";

/** A file or image of the first request: one the provider has, one of this machine, or its bytes. */
export type Attachment =
  | { readonly fileId: string }
  | { readonly path: string }
  | { readonly bytes: Uint8Array; readonly filename: string }
  | { readonly imageUrl: string };

/** Returns a frozen copy of what may be attached. */
export function checkAttachment(attachment: Attachment, field: string): Attachment {
  if (!isPlainObject(attachment)) throw refused(field, attachment, "must be an object");
  const { fileId, path, bytes, filename, imageUrl } = attachment as Partial<
    Record<string, unknown>
  >;
  const given = Object.entries({ fileId, path, bytes, imageUrl }).filter(
    ([, value]) => value !== undefined,
  );
  const [kind, value] = given[0] ?? [];
  if (given.length !== 1)
    throw refused(field, Object.keys(attachment), "must have exactly one source");
  if (kind === "bytes") {
    if (!(bytes instanceof Uint8Array))
      throw refused(`${field}.bytes`, bytes, "must be a Uint8Array");
    if (!isText(filename)) throw refused(`${field}.filename`, filename, "must name the bytes");
  } else if (!isText(value))
    throw refused(`${field}.${kind}`, value, "must be text that is not blank");
  if (kind === "imageUrl" && !/^(https?:\/\/|data:image\/)/.test(String(value))) {
    throw refused(`${field}.imageUrl`, value, "must be an http, https or data:image URL");
  }
  return Object.freeze({ ...attachment });
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

function refused(field: string, value: unknown, rule: string): PromptValidationError {
  const forms = list(["{ fileId }", "{ path }", "{ bytes, filename }", "{ imageUrl }"]);
  return new PromptValidationError({ field, value, rule, remedy: `give one of ${forms}` });
}
