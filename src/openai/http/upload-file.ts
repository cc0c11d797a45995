import { InvalidOptionError, messageOf } from "../../base/errors.ts";
import { maybeTextAt } from "../../base/reading.ts";
import {
  checkKeys,
  checkText,
  elsewhere,
  integerFrom,
  optional,
} from "../../tools/config-checks.ts";
import { requestErrorFrom } from "../errors/request-error.ts";
import { secretsOf } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { FilePurpose, NewFile, OpenAIClient } from "./client.ts";
import { checkedResult, unreadable } from "./result.ts";
import { checkFileType } from "./uploadable-types.ts";

const refuse = InvalidOptionError.at("uploadFile(path)");

/** How `uploadFile` uploads. */
export interface UploadFileOptions {
  /** @default "user_data" */
  readonly purpose?: FilePurpose | undefined;
  /** What the provider is told. @default the path's last part */
  readonly filename?: string | undefined;
  /** From an hour to thirty days: 3600 to 2592000. @default it stays until it is deleted */
  readonly expiresAfterSeconds?: number | undefined;
  /** File extensions, such as `".csv"`, and `""` for none. @default those OpenAI's tools can read */
  readonly allowedTypes?: "any" | readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Uploads a file of this machine, read as it is sent, and gives the id by which tools and messages
 * name it. What cannot be of use there is refused before anything is sent.
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
    file: await fileAt(path, options),
    purpose: options.purpose ?? "user_data",
    ...(seconds !== undefined && { expires_after: { anchor: "created_at", seconds } }),
  };
  const context = { request: "POST /files", secrets: secretsOf(client), signal };
  let result: WireItem;
  try {
    const given: unknown = await client.files.create(body, { maxRetries: 0, signal });
    result = checkedResult(given, context);
  } catch (thrown) {
    throw requestErrorFrom(thrown, context);
  }
  const id = maybeTextAt(result, "id");
  if (id) return { id };
  throw unreadable("an object without an id", { body: result }, context);
}

function checkOptions(path: string, options: UploadFileOptions): void {
  checkText(path, "uploadFile(path)");
  checkKeys<UploadFileOptions>(options, "uploadFile(options)", {
    purpose: optional(checkText),
    filename: optional(checkText),
    expiresAfterSeconds: optional(integerFrom(3_600, 2_592_000)),
    allowedTypes: elsewhere,
    signal: elsewhere,
  });
}

/** OpenAI's limit for one file. */
const LARGEST = 512 * 1024 * 1024;

async function fileAt(path: string, options: UploadFileOptions): Promise<File> {
  const [{ openAsBlob }, { stat }, { basename, extname }] = await Promise.all([
    import("node:fs"),
    import("node:fs/promises"),
    import("node:path"),
  ]);
  const filename = options.filename ?? basename(path);
  checkFileType(extname(filename), filename, options.allowedTypes);
  const found = await stat(path).catch((error: unknown) => {
    throw refuse("", path, "must be a file that can be read", messageOf(error), { cause: error });
  });
  if (!found.isFile()) throw refuse("", path, "must be a file", "pack a folder first");
  if (found.size === 0)
    throw refuse("", path, "must not be an empty file", "write something into it");
  if (found.size > LARGEST) {
    throw refuse("", path, `must be a file of at most ${LARGEST} bytes`, "split it or compress it");
  }
  return new File([await openAsBlob(path)], filename);
}
