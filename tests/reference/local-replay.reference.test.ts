import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ModelAction, ModelRequest, Sandbox } from "weakincentives/local";
import { isPlainObject } from "../../src/base/freeze.ts";
import { textAt } from "../../src/base/reading.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { eventsIn } from "../support/local/checked-fetch.ts";
import {
  citationsOf,
  citedIn,
  filesFor,
  madeFilesFor,
  pagesFor,
} from "../support/local/replay-citations.ts";
import { adapted, reasonToSkip } from "../support/local/replay-request.ts";
import { actionsFor } from "../support/local/replay-script.ts";
import { folderOf, output, stage } from "../support/local/stage.ts";

interface Exchange {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly real: string;
  readonly status: number;
  readonly request: unknown;
  readonly response: unknown;
  readonly events: readonly WireItem[] | null;
}

/** A recorded request, what the provider answered, and what the model has to do for that. */
interface Replay {
  readonly id: string;
  readonly request: WireItem;
  readonly answer: WireItem;
  readonly events: readonly WireItem[];
  readonly actions: readonly ModelAction[];
}

const shared = process.env["WINK_SHARED"] ?? "";
const exchanges = readFileSync(join(shared, "recorded/dev.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Exchange => JSON.parse(line))
  .filter(({ method, url }) => method === "POST" && /\/?responses(?:\?.*)?$/.test(url))
  .filter(({ real, request }) => real !== "unproven" && isPlainObject(request));

const skipped = new Map<string, string>();
const replays = exchanges.flatMap((exchange): readonly Replay[] => {
  const replay = replayOf(exchange);
  if (typeof replay !== "string") return [replay];
  skipped.set(exchange.id, replay);
  return [];
});

function replayOf({ id, status, request, response, events }: Exchange): Replay | string {
  if (status !== 200) return "it was refused";
  if (!isPlainObject(request)) return "it has no request";
  const all = (events ?? []).map(({ data, ...event }) => (isPlainObject(data) ? data : event));
  const answer = all.length > 0 ? all.at(-1)?.["response"] : response;
  if (!isPlainObject(answer)) return "its end was not recorded";
  if (answer["status"] !== "completed") return `it is ${answer["status"]}`;
  const actions = actionsFor(output(answer));
  if (typeof actions === "string") return actions;
  return reasonToSkip(request) ?? { id, request, answer, events: all, actions };
}

/** Runs nothing, for what was recorded is not ours to run; only the files that it made are there. */
function silent(files: readonly string[]): Sandbox {
  return {
    name: "silent",
    isolation: "It runs nothing.",
    probe: async () => ({ usable: true, reason: "for tests" }),
    open: async ({ root }) => {
      const nothing = { stdout: "", stderr: "", timedOut: false, truncated: false };
      return {
        async python() {
          for (const name of files) writeFileSync(join(root, name), "Made.");
          return { ...nothing, error: null, images: [], died: false };
        },
        shell: async () => ({ ...nothing, exitCode: 0 }),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  };
}

/** Whoever prepares a request asks for other things than the request itself. */
function playing({ actions, answer }: Replay) {
  const tools = actions.filter((action) => !isSaid(action));
  const [message = {}] = output(answer).filter(({ type }) => type === "message");
  const isCited = citedIn([message]).length > 0;
  let asks = 0;
  return (request: ModelRequest): readonly ModelAction[] => {
    if (request.model === "thinker") return [{ think: "Hm." }, { say: "Hello." }];
    if (request.model === "caller") return called(request.text);
    if (!isCited) return actions;
    // What a search finds can be cited when it has been found: the message is always the last.
    if (asks++ === 0) return tools;
    const citations = citationsOf(message, request);
    return actions.filter(isSaid).map((action) => ({ ...action, citations }));
  };
}

type Said = Extract<ModelAction, { readonly say: unknown }>;

function isSaid(action: ModelAction): action is Said {
  return "say" in action;
}

/** Calls, for answers that are given to them afterwards. */
function called(text: string): readonly ModelAction[] {
  const answers: readonly WireItem[] = JSON.parse(text);
  const calls = answers.flatMap((item): readonly ModelAction[] => {
    if (item["type"] !== "function_call_output") return [];
    return [{ call: { name: "recorded", args: {}, callId: textAt(item, "call_id") } }];
  });
  return [...calls, { say: "Hello." }];
}

async function replayed(replay: Replay) {
  const { request, answer: recorded } = replay;
  const items = output(recorded);
  const on = await stage(playing(replay), {
    sandbox: silent(madeFilesFor(items)),
    web: folderOf(pagesFor(items)),
  });
  const asked = await adapted(request, on, filesFor(items));
  const { status, body } = await on.ask("POST /responses", asked);
  const events = request["stream"] === true ? eventsIn(textAt(body, "text")) : [];
  const answer = events.at(-1)?.["response"] ?? body;
  return { status, events, answer: isPlainObject(answer) ? answer : {}, body };
}

/** What a value is, for comparison: `null` may stand for any. */
function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Recorded keys that ours lacks, and those whose values are of another kind. */
function differences(theirs: WireItem, ours: WireItem): readonly string[] {
  return Object.entries(theirs).flatMap(([key, value]) => {
    if (!(key in ours)) return value === null ? [] : [`${key} is missing`];
    if (value === null || ours[key] === null || kindOf(value) === kindOf(ours[key])) return [];
    return [`${key} is ${kindOf(ours[key])}, not ${kindOf(value)}`];
  });
}

/** What a recorded answer may have and ours has not, and why. */
const own = new Map([
  ["tool_usage is missing", "what hosted tools cost, of which none of ours costs anything"],
  ["content_filters is missing", "Azure's own"],
  ["message.phase is missing", "commentary or final answer: of models that tell them apart"],
  ["reasoning.content is missing", "of models that show what they think"],
]);

/** Those of them that were met. */
const seen = new Set<string>();

describe("what was recorded", () => {
  test("is replayed, but for what the provider does not have", () => {
    const reasons = [...new Set(skipped.values())].toSorted();
    expect(reasons).toEqual([
      "it answers a patch that another server asked for",
      "it is incomplete",
      "it is queued",
      "it names thoughts that another server stored",
      "it names what another server stored",
      "it was refused",
      "the provider has no background",
      "the provider has no computer_call",
      "the provider has no conversation",
      "the provider has no image_generation_call",
      "the provider has no mcp",
      "the provider has no mcp_call",
      "the provider has no mcp_list_tools",
      "the provider has no tool_search",
      "the provider has no tool_search_call",
    ]);
    expect(replays.length).toBeGreaterThan(100);
  });

  test.each(replays.map((replay) => [replay.id, replay] as const))(
    "%s is answered in the same shape",
    async (_id, replay) => {
      const { status, answer, body } = await replayed(replay);
      expect({ status, error: body["error"] ?? null }).toEqual({ status: 200, error: null });
      expect(answer["status"]).toBe("completed");
      const [theirs, ours] = [output(replay.answer), output(answer)];
      expect(ours.map(({ type }) => type)).toEqual(theirs.map(({ type }) => type));
      const inItems = theirs.flatMap((item, at) =>
        differences(item, ours[at] ?? {}).map((one) => `${textAt(item, "type")}.${one}`),
      );
      const found = [...differences(replay.answer, answer), ...inItems];
      for (const one of found) seen.add(one);
      expect(found.filter((one) => !own.has(one))).toEqual([]);
    },
  );
});

test("what is excused is there to be excused", () => {
  expect([...own.keys()].filter((one) => !seen.has(one))).toEqual([]);
});

/** Every server gives ids of its own, and the title of a page has no two spaces in a row. */
function withoutIds({ file_id: file, container_id: container, ...citation }: WireItem): WireItem {
  const title = textAt(citation, "title").replace(/\s+/g, " ");
  return { ...citation, title, file_id: kindOf(file), container_id: kindOf(container) };
}

describe("what was recorded with citations", () => {
  const cited = replays.filter(({ answer }) => citedIn(output(answer)).length > 0);

  test("is there, of every type", () => {
    expect(cited.length).toBeGreaterThan(30);
    const types = cited.flatMap(({ answer }) => citedIn(output(answer)).map(({ type }) => type));
    expect([...new Set(types)].toSorted()).toEqual([
      "container_file_citation",
      "file_citation",
      "url_citation",
    ]);
  });

  test.each(cited.map((replay) => [replay.id, replay] as const))(
    "%s cites the same in the same places",
    async (_id, replay) => {
      const { answer } = await replayed(replay);
      const [theirs, ours] = [citedIn(output(replay.answer)), citedIn(output(answer))];
      expect(ours.map(withoutIds)).toEqual(theirs.map(withoutIds));
    },
  );
});

/** The types of events, those of deltas once. */
function orderOf(events: readonly WireItem[]): readonly string[] {
  return events
    .map((event) => textAt(event, "type"))
    .filter((type) => type !== "keepalive")
    .filter((type, at, all) => type !== all[at - 1]);
}

describe("what was recorded as a stream", () => {
  const streams = replays.filter(
    ({ request, events }) => request["stream"] === true && events.length > 0,
  );

  test("is there", () => {
    expect(streams.length).toBeGreaterThan(15);
  });

  test.each(streams.map((replay) => [replay.id, replay] as const))(
    "%s has its events in the same order",
    async (_id, replay) => {
      const { events } = await replayed(replay);
      expect(orderOf(events)).toEqual(orderOf(replay.events));
    },
  );
});
