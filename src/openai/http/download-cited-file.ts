import { InvalidOptionError } from "../../base/errors.ts";
import type { ContainerFileCitation, FileCitation } from "../../tools/hosted/citation.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import { toRequestError } from "../errors/request-error.ts";
import { readSecrets } from "../secrets.ts";
import type { OpenAIClient } from "./client.ts";
import { downloadContainerFile, downloadStoredFile } from "./download.ts";

/**
 * Downloads the file that a citation names. Throws a `ThrottleError` if a retry may help, with the
 * request's error as its `cause`.
 */
export async function downloadCitedFile(
  citation: ContainerFileCitation | FileCitation,
  client: OpenAIClient,
  signal: AbortSignal,
): Promise<Uint8Array> {
  checkCitation(citation);
  const { fileId } = citation;
  try {
    return citation.type === "containerFile"
      ? await downloadContainerFile(client, citation.containerId, fileId, { signal })
      : await downloadStoredFile(client, fileId, { signal });
  } catch (thrown) {
    const error = toRequestError(thrown, { signal, secrets: readSecrets(client) });
    if (citation.type === "containerFile" && isContainerRejection(error)) {
      throw new ContainerExpiredError(citation.containerId, error, "its files were deleted");
    }
    const failed = fromRequestError(error, "");
    throw failed.name === "ThrottleError" ? failed : error;
  }
}

function checkCitation(citation: ContainerFileCitation | FileCitation): void {
  if (citation?.type === "containerFile" || citation?.type === "file") return;
  throw new InvalidOptionError({
    field: "downloadFile(citation)",
    value: citation,
    rule: "must be a file citation",
    remedy: 'pass an entry of response.citations whose type is "containerFile" or "file"',
  });
}
