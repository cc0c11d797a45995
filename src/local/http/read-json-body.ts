import { ApiProblem } from "../api-problem.ts";
import { parseBoundedJson } from "../parse-bounded-json.ts";
import { LazyRequest } from "./lazy-request.ts";

/**
 * Reads a request's JSON body. A body that exceeds the limit is rejected before it is buffered whole, and one
 * with too many keys, values or levels before it is parsed. `emptyBody` is the value of an empty body, which is
 * rejected by default.
 */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
  { emptyBody }: { readonly emptyBody?: unknown } = {},
): Promise<unknown> {
  const text = await readBodyText(request, maxBytes);
  if (text === "" && emptyBody !== undefined) return emptyBody;
  const json = parseBoundedJson(text);
  if (!json.ok) throw createBodyProblem(json.problem);
  return json.value;
}

function createBodyProblem(problem: string): ApiProblem {
  return new ApiProblem(400, `We could not parse the JSON body of your request: ${problem}`);
}

/** The HTTP parser enforces a declared `content-length`; without one the bytes are counted here. */
async function readBodyText(request: Request, maxBytes: number): Promise<string> {
  const declaredLength = readDeclaredLength(request);
  if (declaredLength > maxBytes) throw createBodyTooLargeProblem(maxBytes);
  if (declaredLength >= 0) return await request.text();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > maxBytes) throw createBodyTooLargeProblem(maxBytes);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function readDeclaredLength(request: Request): number {
  if (request instanceof LazyRequest) return request.contentLength ?? Number.NaN;
  return Number(request.headers.get("content-length") ?? Number.NaN);
}

function createBodyTooLargeProblem(maxBytes: number): ApiProblem {
  const message = `The request is larger than ${maxBytes} bytes.`;
  // The rest of the body is still arriving, so the connection cannot be reused.
  const headers = { connection: "close" };
  return new ApiProblem(413, message, { code: "request_too_large", headers });
}
