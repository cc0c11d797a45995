import type { AdapterSettings, DeliveryState } from "../adapter-settings.ts";
import type { History } from "../history/history.ts";
import type { RawResponse } from "../http/background-calls.ts";
import { receiveFromClient } from "../http/client-stream.ts";
import type { StreamReceiver } from "../http/http.ts";
import { HttpClient } from "../http/http-client.ts";
import { getRequestId } from "../http/json-response.ts";
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
  "client" | "timeoutMs" | "logger" | "delivery" | "throttle" | "clock" | "random"
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
export async function sendRequest(
  { history, base, signal }: Exchange,
  { client, timeoutMs, delivery }: ExchangeSettings,
  receiver: StreamReceiver,
): Promise<RawResponse> {
  const { headers, secrets } = base;
  const fields = { ...toBackgroundFields(base, delivery), ...toStreamFields(delivery) };
  if (client instanceof HttpClient) {
    // After the other fields, so that requests with the same prompt begin alike.
    const added = JSON.stringify(fields).slice(1);
    const text = added === "}" ? base.text : `${base.text.slice(0, -1)},${added}`;
    const body = history.toRequestBody(text);
    const options = { signal, headers };
    return delivery.isStreamed
      ? await client.postStreamed("/responses", body, receiver, options)
      : await client.post("/responses", body, options);
  }
  const options = { maxRetries: 0, signal, timeout: timeoutMs, headers };
  const call = client.responses.create(
    { ...history.toRequestValue(base.value), ...fields },
    options,
  );
  if (delivery.isStreamed) {
    const context = { request: REQUEST, signal, secrets, timeoutMs };
    return await receiveFromClient(call, { options, context }, receiver);
  }
  const value: unknown = await call;
  return { value, requestId: getRequestId(value) };
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
