import { parseJson } from "../../base/json.ts";
import { ApiProblem } from "../api-problem.ts";
import { SocketRequest } from "./socket-request.ts";

/** A request's JSON. What is too long is given up before it is held. */
export async function jsonBody(request: Request, mostBytes: number): Promise<unknown> {
  const json = parseJson(await textOf(request, mostBytes));
  if (json.ok) return json.value;
  const message = `We could not parse the JSON body of your request: ${json.problem}`;
  throw new ApiProblem(400, message);
}

/** A length that is said is kept to by whoever parsed the request; without one it is counted. */
async function textOf(request: Request, mostBytes: number): Promise<string> {
  const said = saidLength(request);
  if (said > mostBytes) throw tooLarge(mostBytes);
  if (said >= 0) return await request.text();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > mostBytes) throw tooLarge(mostBytes);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function saidLength(request: Request): number {
  if (request instanceof SocketRequest) return request.saidLength ?? Number.NaN;
  return Number(request.headers.get("content-length") ?? Number.NaN);
}

function tooLarge(most: number): ApiProblem {
  const message = `The request is larger than ${most} bytes.`;
  // The rest of it is still coming: what it comes on cannot carry another request.
  const headers = { connection: "close" };
  return new ApiProblem(413, message, { code: "request_too_large", headers });
}
