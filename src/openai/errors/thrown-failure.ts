import { messageOf } from "../../base/errors.ts";
import { scrubbedError } from "../../base/scrubbed.ts";
import { type DescribedFailure, PROXY, quoted, type RequestContext } from "./request-failure.ts";
import { TooLong } from "./transport-errors.ts";

/** What a client or its connection threw, where there was no answer that says why. */
export function describeThrown(thrown: unknown, context: RequestContext): DescribedFailure {
  const { reason, problem, remedy = null, ...facts } = diagnosis(thrown, context);
  // A parser's message quotes a part of the text: half a secret is not found and hidden.
  const cause = reason === "body" ? undefined : scrubbedError(thrown, context.secrets);
  return { problem, remedy, details: { reason, ...context.answered, ...facts, cause } };
}

interface Diagnosis {
  readonly reason: DescribedFailure["details"]["reason"];
  readonly problem: string;
  readonly remedy?: string;
  readonly shouldRetry?: false;
  readonly body?: string;
}

function diagnosis(thrown: unknown, context: RequestContext): Diagnosis {
  const { timeoutMs, answered, secrets } = context;
  const chain = chainOf(thrown);
  const codes = chain.map(codeOf);
  const last = quoted(messageOf(scrubbedError(chain.at(-1), secrets)));
  if (chain.some(isTimeout)) return timedOut(codes, timeoutMs, last);
  if (thrown instanceof TooLong) {
    const remedy = "raise clientConfig.maxResponseBytes if that is right";
    return { reason: "body", problem: `was answered with ${last}`, remedy };
  }
  if (thrown instanceof SyntaxError) {
    return { reason: "body", problem: "was answered with what is not JSON, or is cut short" };
  }
  const stray = NO_OBJECT.exec(last)?.[1];
  if (stray !== undefined) {
    const problem = "was answered with no object";
    return { reason: "body", problem, remedy: PROXY, body: stray };
  }
  if (codes.some((code) => TLS.test(code))) {
    const remedy = "check baseURL; a certificate of your own goes into NODE_EXTRA_CA_CERTS";
    return { reason: "network", problem: `failed: ${last}`, remedy, shouldRetry: false };
  }
  if (!codes.some((code) => NETWORK.test(code)) && !chain.some(isConnectionError)) {
    return { reason: "unknown", problem: `failed: ${last}` };
  }
  const problem = answered ? `was cut off within the answer: ${last}` : `failed: ${last}`;
  return { reason: "network", problem, remedy: "check baseURL and the network" };
}

const TIMEOUT = /^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/;
const TLS = /^(?:ERR_(?:TLS|SSL)_.*|.*(?:CERT|SELF_SIGNED|LEAF_SIGNATURE).*|EPROTO)$/;
const NETWORK =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_\w+|E(?:HOST|NET)(?:UNREACH|DOWN)|UND_ERR_(?!INVALID|NOT_SUPPORTED|ABORTED)\w+|HPE_\w+|ERR_STREAM_PREMATURE_CLOSE)$/;
/** The official client looks for a field in an answer before it knows that it is an object. */
const NO_OBJECT = /^Cannot use 'in' operator to search for 'object' in (.*)$/;
/** How the runtimes say that a `fetch` failed, all of them with a `TypeError`. */
const FETCH_FAILED =
  /fetch failed|failed to fetch|fetch resource|network|terminated|load failed|connect|sending request/i;

function timedOut(
  codes: readonly string[],
  timeoutMs: number | undefined,
  last: string,
): Diagnosis {
  const within = timeoutMs === undefined ? "in time" : `within ${timeoutMs} ms`;
  let problem = `timed out: ${last}`;
  if (codes.includes("UND_ERR_CONNECT_TIMEOUT")) problem = "found no connection in time";
  if (codes.includes("UND_ERR_HEADERS_TIMEOUT")) problem = `was not answered ${within}`;
  if (codes.includes("UND_ERR_BODY_TIMEOUT")) problem = `got no more of its answer ${within}`;
  return { reason: "timeout", problem, remedy: "raise timeoutMs if it may take so long" };
}

/** What was thrown and what caused it, outermost first. */
function chainOf(thrown: unknown): readonly unknown[] {
  const chain = [thrown];
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  while (cause !== undefined && !chain.includes(cause)) {
    chain.push(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return chain;
}

function codeOf(link: unknown): string {
  return link instanceof Error && "code" in link && typeof link.code === "string" ? link.code : "";
}

function isTimeout(link: unknown): boolean {
  if (TIMEOUT.test(codeOf(link))) return true;
  if (link instanceof Error && link.name === "TimeoutError") return true;
  return isStatusless(link) && /timed? ?out/i.test(link.message);
}

function isConnectionError(link: unknown): boolean {
  return isStatusless(link) || (link instanceof TypeError && FETCH_FAILED.test(link.message));
}

/** The official client's `APIConnectionError`: an `APIError` without a status that nobody aborted. */
function isStatusless(link: unknown): link is Error {
  const isOfficial = link instanceof Error && "status" in link && "headers" in link;
  return isOfficial && link.status === undefined && link.message !== "Request was aborted.";
}
