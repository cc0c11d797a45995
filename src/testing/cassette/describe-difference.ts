import { findDifferences, type ValueDifference } from "./find-differences.ts";
import { formatValueDifference } from "./format-value-difference.ts";
import type { RequestShape } from "./generated-names.ts";
import { matchesMasked } from "./matches-masked.ts";
import type { RecordedExchange, RecordedRequest } from "./recorded-exchange.ts";

/** A request that no unused exchange of a cassette equals. */
export interface UnmatchedRequest {
  /** Path of the cassette. */
  readonly path: string;
  /** Number of the request among those sent, from 1. */
  readonly number: number;
  readonly shape: RequestShape;
  readonly candidates: readonly {
    readonly exchange: RecordedExchange;
    readonly shape: RequestShape;
  }[];
  /** Numbers of the exchanges that were replayed. */
  readonly used: ReadonlySet<number>;
}

const REMEDY = 'If the change is intended, record the run again with mode: "record".';

/** Describes how a request differs from the most similar recorded request. */
export function describeDifference(unmatched: UnmatchedRequest): string {
  const { path, number, shape, candidates, used } = unmatched;
  const sent: RecordedRequest = JSON.parse(shape.text);
  const name = `Request ${number} (${sent.method} ${sent.path})`;
  const unused = candidates.filter(({ exchange }) => !used.has(exchange.exchange));
  const nearest = findNearest(sent, unused);
  if (nearest) {
    const [first, ...others] = nearest.differences;
    if (!first) {
      return `${name} uses the names of uploads in another way than exchange ${nearest.exchange} of ${path}. ${REMEDY}`;
    }
    const more = formatPlaces(others.map((one) => one.place));
    return `${name} differs from exchange ${nearest.exchange} of ${path} at ${first.place}:\n\n${formatValueDifference(first)}\n\n${more}${REMEDY}`;
  }
  const before = candidates.find((one) => matchesMasked(one.shape.text, shape.text));
  if (before) {
    return `${name} was recorded in ${path} as exchange ${before.exchange.exchange} and has been replayed already: it is sent more often than before. ${REMEDY}`;
  }
  const next = unused[0]?.exchange;
  const expected = next
    ? `The next recorded request is ${next.request.method} ${next.request.path}.`
    : `All ${candidates.length} recorded requests have been sent.`;
  return `${name} is not in ${path}. ${expected} ${REMEDY}`;
}

interface Nearest {
  readonly exchange: number;
  readonly differences: readonly ValueDifference[];
}

/** Finds the recorded request to the same endpoint with the fewest differences; the first of equals. */
function findNearest(
  sent: RecordedRequest,
  unused: UnmatchedRequest["candidates"],
): Nearest | undefined {
  return unused
    .filter(({ exchange: { request } }) => isSameEndpoint(request, sent))
    .map(({ exchange, shape }): Nearest => {
      const recorded: unknown = JSON.parse(shape.text);
      return { exchange: exchange.exchange, differences: findDifferences(recorded, sent) };
    })
    .reduce<Nearest | undefined>(
      (best, one) => (best && best.differences.length <= one.differences.length ? best : one),
      undefined,
    );
}

function isSameEndpoint(recorded: RecordedRequest, sent: RecordedRequest): boolean {
  const [before] = recorded.path.split("?");
  const [now] = sent.path.split("?");
  return recorded.method === sent.method && before === now;
}

const MAX_PLACES = 5;

function formatPlaces(places: readonly string[]): string {
  if (places.length === 0) return "";
  const shown = places.slice(0, MAX_PLACES).join(", ");
  const more = places.length > MAX_PLACES ? ", …" : "";
  return `Also different: ${shown}${more}.\n`;
}
