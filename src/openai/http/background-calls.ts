import type { RequestContext } from "../errors/request-failure.ts";
import type { CallOptions, OpenAIClient } from "./client.ts";
import { receiveFromClient } from "./client-stream.ts";
import { HttpClient } from "./http-client.ts";
import { getRequestId } from "./json-response.ts";
import type { StreamReceiver } from "./read-events.ts";

/** A client that can fetch and cancel responses. */
export interface BackgroundClient extends OpenAIClient {
  readonly responses: OpenAIClient["responses"] &
    Required<Pick<OpenAIClient["responses"], "retrieve" | "cancel">>;
}

/** Whether a client can fetch and cancel responses that run in the background. */
export function canRunInBackground(client: OpenAIClient): client is BackgroundClient {
  const { retrieve, cancel } = client.responses;
  return typeof retrieve === "function" && typeof cancel === "function";
}

/** The provider's response, not yet parsed. */
export interface RawResponse {
  readonly value: unknown;
  readonly requestId: string | null;
}

/** A request about a response that exists. */
export interface BackgroundCall {
  readonly id: string;
  readonly options: CallOptions & { readonly timeout: number };
  /** The optional fields of the response to return. */
  readonly include: readonly string[];
}

/** Fetches a response as it is now. */
export async function retrieveResponse(
  { responses }: BackgroundClient,
  { id, include, options }: BackgroundCall,
): Promise<RawResponse> {
  const value: unknown = await responses.retrieve(id, toQuery(include), options);
  return { value, requestId: getRequestId(value) };
}

/**
 * Passes the events of a response after the event with the number `after` to `receiver`: all if it is
 * `null`. Resolves when the response has finished.
 */
export async function followResponse(
  client: BackgroundClient,
  { id, include, options }: BackgroundCall,
  {
    after,
    receiver,
    context,
  }: {
    readonly after: number | null;
    readonly receiver: StreamReceiver;
    readonly context: RequestContext;
  },
): Promise<RawResponse> {
  const cursor = after !== null && { starting_after: after };
  const query = { stream: true, ...cursor, include_obfuscation: false, ...toQuery(include) };
  if (client instanceof HttpClient) {
    return await client.retrieveStreamed(id, query, receiver, options);
  }
  const call = client.responses.retrieve(id, query, options);
  return await receiveFromClient(call, { options, context }, receiver);
}

function toQuery(include: readonly string[]): object {
  return include.length > 0 ? { include } : {};
}
