import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { redactError, redactText } from "../../base/redact.ts";
import {
  type DescribedFailure,
  PROXY_REMEDY,
  type RequestContext,
  toOneLine,
} from "./request-failure.ts";
import { TransportBodyError, TransportFetchError } from "./transport-errors.ts";

/** Describes an error thrown by a client or its connection, without an error response. */
export function describeThrownError(thrown: unknown, context: RequestContext): DescribedFailure {
  const { reason, problem, remedy = null, ...facts } = diagnose(thrown, context);
  const original = thrown instanceof TransportFetchError ? thrown.cause : thrown;
  // A parser's message quotes part of the text; half a secret would not be redacted.
  const cause = reason === "body" ? undefined : redactError(original, context.secrets);
  return { problem, remedy, details: { reason, ...context.response, ...facts, cause } };
}

interface Diagnosis {
  readonly reason: DescribedFailure["details"]["reason"];
  readonly problem: string;
  readonly remedy?: string;
  readonly shouldRetry?: false;
  readonly body?: string;
}

function diagnose(thrown: unknown, context: RequestContext): Diagnosis {
  const { timeoutMs, response, secrets } = context;
  const chain = listCauses(thrown);
  const codes = chain.map(getErrorCode);
  const last = toOneLine(getErrorMessage(redactError(chain.at(-1), secrets)));
  if (chain.some(isTimeout)) return diagnoseTimeout(codes, timeoutMs, last);
  if (thrown instanceof TransportBodyError) {
    const remedy = "Raise clientConfig.maxResponseBytes if you expect this size.";
    return { reason: "body", problem: `returned ${last}`, remedy };
  }
  if (thrown instanceof SyntaxError) {
    return { reason: "body", problem: "returned invalid or truncated JSON" };
  }
  const isFromFetch = thrown instanceof TransportFetchError;
  const stray = isFromFetch ? undefined : NO_OBJECT.exec(last)?.[1];
  if (stray !== undefined) {
    const problem = "returned no object";
    return { reason: "body", problem, remedy: PROXY_REMEDY, body: stray };
  }
  if (codes.some((code) => TLS.test(code))) {
    const remedy = "Check baseURL. Set NODE_EXTRA_CA_CERTS to trust your own certificate.";
    return { reason: "network", problem: `failed: ${last}`, remedy, shouldRetry: false };
  }
  const isNetwork = codes.some((code) => NETWORK.test(code)) || chain.some(isConnectionError);
  if (!isFromFetch && !isNetwork) {
    return { reason: "unknown", problem: `failed: ${last}` };
  }
  const prefix = response ? "lost its connection during the response" : "failed";
  // This package's own errors are wrong uses, such as of a closed local provider: they stay wrong.
  const own = chain.find((link) => link instanceof WinkError);
  if (own) {
    const message = redactText(own.message, secrets);
    // A replayed request that differs from its recording has a diff, whose lines matter.
    const text = message.includes("\n") ? message : toOneLine(message);
    return { reason: "network", problem: `${prefix}: ${text}`, shouldRetry: false };
  }
  const remedy = "Check baseURL and the network.";
  return { reason: "network", problem: `${prefix}: ${last}`, remedy };
}

const TIMEOUT = /^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/;
const TLS = /^(?:ERR_(?:TLS|SSL)_.*|.*(?:CERT|SELF_SIGNED|LEAF_SIGNATURE).*|EPROTO)$/;
const NETWORK =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_\w+|E(?:HOST|NET)(?:UNREACH|DOWN)|UND_ERR_(?!INVALID|NOT_SUPPORTED|ABORTED)\w+|HPE_\w+|ERR_STREAM_PREMATURE_CLOSE)$/;
/** The official client searches the response for a field before checking that it is an object. */
const NO_OBJECT = /^Cannot use 'in' operator to search for 'object' in (.*)$/;
/** The runtimes' messages for a failed `fetch`; each is a `TypeError`. */
const FETCH_FAILED =
  /fetch failed|failed to fetch|fetch resource|network|terminated|load failed|connect|sending request/i;

function diagnoseTimeout(
  codes: readonly string[],
  timeoutMs: number | undefined,
  last: string,
): Diagnosis {
  const within = timeoutMs === undefined ? "in time" : `within ${timeoutMs} ms`;
  let problem = `timed out: ${last}`;
  if (codes.includes("UND_ERR_CONNECT_TIMEOUT")) problem = "timed out: could not connect in time";
  if (codes.includes("UND_ERR_HEADERS_TIMEOUT")) problem = `timed out: no response ${within}`;
  if (codes.includes("UND_ERR_BODY_TIMEOUT"))
    problem = `timed out: the response stalled, no data ${within}`;
  return { reason: "timeout", problem, remedy: "Raise timeoutMs if the request can take longer." };
}

/** Lists a thrown value and its causes, outermost first. */
function listCauses(thrown: unknown): readonly unknown[] {
  const chain = [thrown];
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  while (cause !== undefined && !chain.includes(cause)) {
    chain.push(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return chain;
}

function getErrorCode(link: unknown): string {
  return link instanceof Error && "code" in link && typeof link.code === "string" ? link.code : "";
}

function isTimeout(link: unknown): boolean {
  if (TIMEOUT.test(getErrorCode(link))) return true;
  if (link instanceof Error && link.name === "TimeoutError") return true;
  return isStatusless(link) && /timed? ?out/i.test(link.message);
}

function isConnectionError(link: unknown): boolean {
  return isStatusless(link) || (link instanceof TypeError && FETCH_FAILED.test(link.message));
}

/** Whether an error is the official client's `APIConnectionError`: no status, and not aborted. */
function isStatusless(link: unknown): link is Error {
  const isOfficial = link instanceof Error && "status" in link && "headers" in link;
  return isOfficial && link.status === undefined && link.message !== "Request was aborted.";
}
