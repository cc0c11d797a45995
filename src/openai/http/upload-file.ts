import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { loadFileSystem } from "../../host/load-file-system.ts";
import {
  checkKeys,
  checkSingleLine,
  deferCheck,
  integerCheck,
  optional,
} from "../../tools/config-checks.ts";
import type { FilePurpose, NewFile, OpenAIClient } from "./client.ts";
import { MAX_FILE_BYTES, storeFile } from "./stored-files.ts";
import { checkFileType } from "./uploadable-types.ts";

const refuse = InvalidOptionError.at("uploadFile(path)");

/** Options of `uploadFile`. */
export interface UploadFileOptions {
  /** The file's purpose at the provider. @default "user_data" */
  readonly purpose?: FilePurpose | undefined;
  /** The file's name at the provider. @default the path's last segment */
  readonly filename?: string | undefined;
  /** The file's lifetime: 3600 (an hour) to 2592000 (30 days). @default until you delete it */
  readonly expiresAfterSeconds?: number | undefined;
  /**
   * Allowed file extensions, such as `".csv"`, or `""` for none. @default the types OpenAI's tools
   * read
   */
  readonly allowedTypes?: "any" | readonly string[] | undefined;
  /** Aborts the upload. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Uploads a file from the host and returns the id that tools and messages refer to. Reads the file
 * while sending it. Throws before sending anything if the file is missing, empty, larger than
 * 512 MiB or of a type that is not allowed.
 *
 * @example
 * ```ts
 * import { OpenAIAdapter, uploadFile } from "weakincentives/openai";
 *
 * const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
 * const { id } = await uploadFile(adapter.client, "sales.csv");
 * console.log(id); // pass it to `prompt.attach({ fileId: id })`, or in the `fileIds` of a container
 * ```
 */
export async function uploadFile(
  client: OpenAIClient,
  path: string,
  options: UploadFileOptions = {},
): Promise<{ readonly id: string }> {
  checkOptions(path, options);
  const { signal, expiresAfterSeconds: seconds } = options;
  signal?.throwIfAborted();
  const body: NewFile = {
    file: await openFile(path, options),
    purpose: options.purpose ?? "user_data",
    ...(seconds !== undefined && { expires_after: { anchor: "created_at", seconds } }),
  };
  return { id: await storeFile(client, body, signal) };
}

function checkOptions(path: string, options: UploadFileOptions): void {
  checkSingleLine(path, "uploadFile(path)");
  checkKeys<UploadFileOptions>(options, "uploadFile(options)", {
    purpose: optional(checkSingleLine),
    filename: optional(checkSingleLine),
    expiresAfterSeconds: optional(integerCheck(3_600, 2_592_000)),
    allowedTypes: deferCheck,
    signal: deferCheck,
  });
}

async function openFile(path: string, options: UploadFileOptions): Promise<File> {
  const {
    openAsBlob,
    promises: { stat },
  } = loadFileSystem(path);
  const { basename, extname } = process.getBuiltinModule("node:path");
  const filename = options.filename ?? basename(path);
  checkFileType(extname(filename), filename, options.allowedTypes);
  const found = await stat(path).catch((error: unknown) => {
    throw refuse("", path, "must be a readable file", `check the path: ${getErrorMessage(error)}`, {
      cause: error,
    });
  });
  if (!found.isFile())
    throw refuse("", path, "must be a file", "pack a folder into an archive first");
  if (found.size === 0)
    throw refuse("", path, "must not be an empty file", "upload a file with content");
  if (found.size > MAX_FILE_BYTES) {
    throw refuse("", path, `must be at most ${MAX_FILE_BYTES} bytes long`, "split or compress it");
  }
  return new File([await openAsBlob(path)], filename);
}
