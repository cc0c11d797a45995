import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../../src/base/freeze.ts";
import { ApiProblem } from "../../src/local/api-problem.ts";
import { checkHistory, createRequestCheck } from "../../src/local/responses/check/request.ts";
import { EventSequence, type StreamEvent } from "../../src/local/responses/events/events.ts";
import { builtInCatalog } from "../../src/local/tools/index.ts";

const checkRequest = createRequestCheck(builtInCatalog);

type Json = Readonly<Record<string, unknown>>;

interface Exchange {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly request: unknown;
  readonly events: readonly Json[] | null;
}

const shared = process.env["WINK_SHARED"] ?? "";
const exchanges = readFileSync(join(shared, "recorded/dev.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Exchange => JSON.parse(line))
  .filter(({ method, url }) => method === "POST" && /\/?responses(?:\?.*)?$/.test(url));

const accepted = exchanges.filter(
  ({ status, request }) => status === 200 && isPlainObject(request),
);

/** Returns the message of a thrown ApiProblem; `null` if the check passed. */
function catchProblem(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (problem) {
    if (problem instanceof ApiProblem) return problem.message;
    throw problem;
  }
}

describe("a recorded request that OpenAI accepted", () => {
  test("is in the recordings often enough", () => {
    expect(accepted.length).toBeGreaterThan(200);
  });

  test.each(accepted.map((exchange) => [exchange.id, exchange] as const))(
    "%s is accepted",
    (_id, { request }) => {
      expect(catchProblem(() => checkRequest(request))).toBeNull();
    },
  );

  test("has a history that is accepted, if it is complete", () => {
    const refusals = accepted.flatMap(({ id, request }) => {
      if (!isPlainObject(request) || request["previous_response_id"] || request["conversation"])
        return [];
      const { input } = request;
      if (!Array.isArray(input)) return [];
      const refusal = catchProblem(() =>
        checkHistory(input, { stored: { isStored: () => true }, catalog: builtInCatalog }),
      );
      return refusal === null ? [] : [`${id}: ${refusal}`];
    });
    expect(refusals).toEqual([]);
  });
});

/** Returns the types of events in order, without repetitions. */
function listEventTypes(events: readonly Json[]): readonly string[] {
  return events.map(({ type }) => String(type)).filter((type, at, all) => type !== all[at - 1]);
}

function listKeysByType(events: readonly Json[]): Readonly<Record<string, readonly string[]>> {
  const optional = ["obfuscation", "logprobs"];
  return Object.fromEntries(
    events.map(({ type, ...event }) => [
      String(type),
      Object.keys(event)
        .filter((key) => !optional.includes(key))
        .sort(),
    ]),
  );
}

/** The events of each output item, from every complete recorded stream with sequence numbers. */
const recordedItems = exchanges.flatMap(({ id, events }) => {
  const all = (events ?? []).map((event) => (isPlainObject(event["data"]) ? event["data"] : event));
  if (all.length === 0 || !all.every((event) => "sequence_number" in event)) return [];
  const count = (type: string) => all.filter((event) => event["type"] === type).length;
  if (count("response.completed") !== 1) return []; // several streams in one file, or an incomplete one
  const done = all.filter(({ type }) => type === "response.output_item.done");
  return done.flatMap(({ item, output_index: index }) => {
    if (!isPlainObject(item)) return [];
    const its = all.filter((event) => event["output_index"] === index);
    return [[`${id} [${index}] ${item["type"]}`, item, its] as const];
  });
});

function writeEvents(item: Json): readonly StreamEvent[] {
  return [...new EventSequence(builtInCatalog).createItem(item)];
}

/** Recorded streams whose order differs from other streams of the same kind. */
const ownWay = /image_generation_call|mcp_call$/;

describe("the stream events of a recorded item", () => {
  test("are numerous enough in the recordings", () => {
    const types = new Set(recordedItems.map(([, item]) => item["type"]));
    expect(recordedItems.length).toBeGreaterThan(80);
    expect([...types]).toEqual(expect.arrayContaining(["message", "code_interpreter_call"]));
  });

  test.each(recordedItems.filter(([name]) => !ownWay.test(name)))(
    "%s come in the recorded order",
    (_name, item, its) => {
      expect(listEventTypes(writeEvents(item))).toEqual(listEventTypes(its));
    },
  );

  test.each(recordedItems)("%s have the recorded keys", (_name, item, its) => {
    const [ours, theirs] = [listKeysByType(writeEvents(item)), listKeysByType(its)];
    for (const type of Object.keys(theirs))
      if (type in ours) expect(ours[type]).toEqual(theirs[type]);
    expect(Object.keys(ours)).toEqual(expect.arrayContaining(["response.output_item.done"]));
  });
});
