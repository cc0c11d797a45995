import type { RetrySettings } from "../../adapter/throttle.ts";
import type { AdapterSettings, DeliveryState } from "../adapter-settings.ts";
import type { History } from "../history/history.ts";
import type { RawResponse } from "../http/background-calls.ts";
import type { OpenAIClient } from "../http/client.ts";
import { receiveFromClient } from "../http/client-stream.ts";
import { egressNote } from "../http/egress-log.ts";
import { HttpClient } from "../http/http-client.ts";
import { getRequestId } from "../http/json-response.ts";
import type { StreamReceiver } from "../http/read-events.ts";
import type { TurnListener } from "../response/response-parts.ts";
import type { WireRequest } from "../wire.ts";

/** A request without its input, as a value and as JSON. */
export interface RequestBase {
  readonly value: WireRequest;
  readonly text: string;
  /** Headers that hosted tools add. */
  readonly headers: Readonly<Record<string, string>>;
  /** Strings to redact from errors. */
  readonly secrets: readonly string[];
}

/** The adapter settings that an exchange uses. */
export type ExchangeSettings = Pick<
  AdapterSettings,
  "client" | "timeoutMs" | "logger" | "delivery" | keyof RetrySettings
>;

/** One request and its observer. */
export interface Exchange {
  readonly history: History;
  readonly base: RequestBase;
  readonly signal: AbortSignal;
  /** Observes the response as it arrives; `null` if nothing does. */
  readonly listener: TurnListener | null;
  /** Returns the request to send if a response in the background was lost. @default the same */
  readonly renew?: (() => Promise<RequestBase>) | undefined;
}

/** The request's name in errors. */
export const REQUEST = "POST /responses";

/** Sends `POST /responses`. If the adapter streams, the events are passed to `receiver`. */
export function sendRequest(
  exchange: Exchange,
  { client, timeoutMs, delivery }: ExchangeSettings,
  receiver: StreamReceiver,
): Promise<RawResponse> {
  const { history, base, signal } = exchange;
  const { headers } = base;
  const fields = { ...toBackgroundFields(base, delivery), ...toStreamFields(delivery) };
  const getText = () => addFields(base.text, fields);
  const body = history.toRequestBody(getText());
  const isStored = base.value.store !== false || delivery.isBackground;
  const digest = history.createDigest(getText);
  const note = { isStored, hasHistory: true, bytes: body.length, digest };
  const noted = { signal, headers, [egressNote]: note };
  if (client instanceof HttpClient) {
    return delivery.isStreamed
      ? client.postStreamed("/responses", body, receiver, noted)
      : client.post("/responses", body, noted);
  }
  const options = { maxRetries: 0, timeout: timeoutMs, ...noted };
  const value = { ...history.toRequestValue(base.value), ...fields };
  return sendWithClient(client.responses.create(value, options), {
    ...{ exchange, options, receiver, isStreamed: delivery.isStreamed },
  });
}

/** Receives the response of the official client, or of one like it. */
async function sendWithClient(
  call: ReturnType<OpenAIClient["responses"]["create"]>,
  { exchange, options, receiver, isStreamed }: ClientCall,
): Promise<RawResponse> {
  const { base, signal } = exchange;
  if (isStreamed) {
    const { secrets } = base;
    const context = { request: REQUEST, signal, secrets, timeoutMs: options.timeout };
    return await receiveFromClient(call, { options, context }, receiver);
  }
  const value: unknown = await call;
  return { value, requestId: getRequestId(value) };
}

interface ClientCall {
  readonly exchange: Exchange;
  readonly options: { readonly timeout: number };
  readonly receiver: StreamReceiver;
  readonly isStreamed: boolean;
}

/** Adds fields to JSON, after its own, so that requests with the same prompt begin alike. */
function addFields(text: string, fields: object): string {
  const added = JSON.stringify(fields).slice(1);
  return added === "}" ? text : `${text.slice(0, -1)},${added}`;
}

/** Creates the fields that make the provider run the response without this connection. */
function toBackgroundFields({ value }: RequestBase, { isBackground }: DeliveryState): object {
  if (!isBackground) return {};
  return { ...(value.store === undefined && { store: true }), background: true };
}

/** Creates the fields that make the provider stream. Padding of events would only cost time. */
function toStreamFields({ isStreamed, hasStreamOptions }: DeliveryState): object {
  if (!isStreamed) return {};
  const options = hasStreamOptions && { stream_options: { include_obfuscation: false } };
  return { stream: true, ...options };
}
