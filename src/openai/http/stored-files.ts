import { readStringOrNull } from "../../base/json.ts";
import { toRequestError } from "../errors/request-error.ts";
import { readSecrets } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { NewFile, OpenAIClient } from "./client.ts";
import { type EgressNote, egressNote } from "./egress-log.ts";
import { toUrlSegment } from "./http.ts";
import { checkJsonObject, createUnreadableError } from "./json-response.ts";

/** OpenAI's limit for one file. */
export const MAX_FILE_BYTES = 512 * 2 ** 20;

/** Stores a file at the provider and returns its id. Sends one request, without retries. */
export async function storeFile(
  client: OpenAIClient,
  body: NewFile,
  signal?: AbortSignal | undefined,
  note?: EgressNote | undefined,
): Promise<string> {
  const context = { request: "POST /files", secrets: readSecrets(client), signal };
  let result: WireItem;
  try {
    const options = { maxRetries: 0, signal, ...(note && { [egressNote]: note }) };
    const given: unknown = await client.files.create(body, options);
    result = checkJsonObject(given, context);
  } catch (thrown) {
    throw toRequestError(thrown, context);
  }
  const id = readStringOrNull(result, "id");
  if (id) return id;
  throw createUnreadableError("an object without an id", { body: result }, context);
}

/** Deletes a stored file. Does nothing if the client cannot delete files. */
export async function deleteStoredFile(client: OpenAIClient, fileId: string): Promise<void> {
  const request = `DELETE /files/${toUrlSegment(fileId, "fileId")}`;
  try {
    await client.files.delete?.(fileId, { maxRetries: 0 });
  } catch (thrown) {
    throw toRequestError(thrown, { request, secrets: readSecrets(client) });
  }
}
