import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ModelAction, ModelRequest, Sandbox } from "weakincentives/local";
import { isPlainObject } from "../../src/base/freeze.ts";
import { readString } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { parseEvents } from "../support/local/checked-fetch.ts";
import {
  createFolder,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";
import {
  createReplayFiles,
  createReplayPages,
  listAnnotations,
  listCodeFiles,
  toModelCitations,
} from "../support/local/replay-citations.ts";
import { adaptRequest, reasonToSkip } from "../support/local/replay-request.ts";
import { toActions } from "../support/local/replay-script.ts";

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

/** A recorded request, the provider's response, and the model actions that produce it. */
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
  const replay = createReplay(exchange);
  if (typeof replay !== "string") return [replay];
  skipped.set(exchange.id, replay);
  return [];
});

function createReplay({ id, status, request, response, events }: Exchange): Replay | string {
  if (status !== 200) return "it was refused";
  if (!isPlainObject(request)) return "it has no request";
  const all = (events ?? []).map(({ data, ...event }) => (isPlainObject(data) ? data : event));
  const answer = all.length > 0 ? all.at(-1)?.["response"] : response;
  if (!isPlainObject(answer)) return "its end was not recorded";
  if (answer["status"] !== "completed") return `it is ${answer["status"]}`;
  const actions = toActions(readOutput(answer));
  if (typeof actions === "string") return actions;
  return reasonToSkip(request) ?? { id, request, answer, events: all, actions };
}

/** Creates a sandbox that runs no recorded code and only writes the files it produced. */
function createSilentSandbox(files: readonly string[]): Sandbox {
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

/** Plays a replay's actions, and simple answers for the requests that prepare it. */
function createModel({ actions, answer }: Replay) {
  const tools = actions.filter((action) => !isMessage(action));
  const [message = {}] = readOutput(answer).filter(({ type }) => type === "message");
  const isCited = listAnnotations([message]).length > 0;
  let asks = 0;
  return (request: ModelRequest): readonly ModelAction[] => {
    if (request.model === "thinker") return [{ think: "Hm." }, { say: "Hello." }];
    if (request.model === "caller") return createCalls(request.text);
    if (!isCited) return actions;
    // Search results can be cited only after the search, so the message comes last.
    if (asks++ === 0) return tools;
    const citations = toModelCitations(message, request);
    return actions.filter(isMessage).map((action) => ({ ...action, citations }));
  };
}

type SayAction = Extract<ModelAction, { readonly say: unknown }>;

function isMessage(action: ModelAction): action is SayAction {
  return "say" in action;
}

/** Creates the calls that the following outputs answer. */
function createCalls(text: string): readonly ModelAction[] {
  const answers: readonly WireItem[] = JSON.parse(text);
  const calls = answers.flatMap((item): readonly ModelAction[] => {
    if (item["type"] !== "function_call_output") return [];
    const callId = readString(item, "call_id");
    return [{ call: { name: "recorded", args: {}, callId, madeUp: true } }];
  });
  return [...calls, { say: "Hello." }];
}

async function runReplay(replay: Replay) {
  const { request, answer: recorded } = replay;
  const items = readOutput(recorded);
  const on = await startProviderFixture(createModel(replay), {
    sandbox: createSilentSandbox(listCodeFiles(items)),
    web: createFolder(createReplayPages(items)),
  });
  const asked = await adaptRequest(request, on, createReplayFiles(items));
  const { status, body } = await on.ask("POST /responses", asked);
  const events = request["stream"] === true ? parseEvents(readString(body, "text")) : [];
  const answer = events.at(-1)?.["response"] ?? body;
  return { status, events, answer: isPlainObject(answer) ? answer : {}, body };
}

/** Returns a value's kind for comparison; `null` matches any kind. */
function getKind(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Lists recorded keys that are missing or have values of another kind. */
function findDifferences(theirs: WireItem, ours: WireItem): readonly string[] {
  return Object.entries(theirs).flatMap(([key, value]) => {
    if (!(key in ours)) return value === null ? [] : [`${key} is missing`];
    if (value === null || ours[key] === null || getKind(value) === getKind(ours[key])) return [];
    return [`${key} is ${getKind(ours[key])}, not ${getKind(value)}`];
  });
}

/** Tolerated differences from recorded responses, with their reasons. */
const own = new Map([
  ["tool_usage is missing", "the cost of hosted tools, which are free locally"],
  ["content_filters is missing", "specific to Azure"],
  ["message.phase is missing", "commentary or final answer: only some models have phases"],
  ["reasoning.content is missing", "only some models reveal their reasoning"],
]);

/** The tolerated differences that occurred. */
const seen = new Set<string>();

describe("a recorded exchange", () => {
  test("is replayed unless it needs an unsupported feature", () => {
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
      "the provider has no image_generation_call",
      "the provider has no mcp",
      "the provider has no mcp_call",
      "the provider has no mcp_list_tools",
    ]);
    expect(replays.length).toBeGreaterThan(100);
  });

  test.each(replays.map((replay) => [replay.id, replay] as const))(
    "%s gets a response of the same shape",
    async (_id, replay) => {
      const { status, answer, body } = await runReplay(replay);
      expect({ status, error: body["error"] ?? null }).toEqual({ status: 200, error: null });
      expect(answer["status"]).toBe("completed");
      const [theirs, ours] = [readOutput(replay.answer), readOutput(answer)];
      expect(ours.map(({ type }) => type)).toEqual(theirs.map(({ type }) => type));
      const inItems = theirs.flatMap((item, at) =>
        findDifferences(item, ours[at] ?? {}).map((one) => `${readString(item, "type")}.${one}`),
      );
      const found = [...findDifferences(replay.answer, answer), ...inItems];
      for (const one of found) seen.add(one);
      expect(found.filter((one) => !own.has(one))).toEqual([]);
    },
  );
});

test("every tolerated difference occurs in the recordings", () => {
  expect([...own.keys()].filter((one) => !seen.has(one))).toEqual([]);
});

/** Removes ids, which differ by server, and normalizes spaces in titles. */
function withoutIds({ file_id: file, container_id: container, ...citation }: WireItem): WireItem {
  const title = readString(citation, "title").replace(/\s+/g, " ");
  return { ...citation, title, file_id: getKind(file), container_id: getKind(container) };
}

describe("a recorded exchange with citations", () => {
  const cited = replays.filter(({ answer }) => listAnnotations(readOutput(answer)).length > 0);

  test("exists for every type of citation", () => {
    expect(cited.length).toBeGreaterThan(30);
    const types = cited.flatMap(({ answer }) =>
      listAnnotations(readOutput(answer)).map(({ type }) => type),
    );
    expect([...new Set(types)].toSorted()).toEqual([
      "container_file_citation",
      "file_citation",
      "url_citation",
    ]);
  });

  test.each(cited.map((replay) => [replay.id, replay] as const))(
    "%s has the same citations with the same spans",
    async (_id, replay) => {
      const { answer } = await runReplay(replay);
      const [theirs, ours] = [
        listAnnotations(readOutput(replay.answer)),
        listAnnotations(readOutput(answer)),
      ];
      expect(ours.map(withoutIds)).toEqual(theirs.map(withoutIds));
    },
  );
});

/** Returns the types of events in order, without repetitions. */
function listEventTypes(events: readonly WireItem[]): readonly string[] {
  return events
    .map((event) => readString(event, "type"))
    .filter((type) => type !== "keepalive")
    .filter((type, at, all) => type !== all[at - 1]);
}

describe("a recorded stream", () => {
  const streams = replays.filter(
    ({ request, events }) => request["stream"] === true && events.length > 0,
  );

  test("exists", () => {
    expect(streams.length).toBeGreaterThan(15);
  });

  test.each(streams.map((replay) => [replay.id, replay] as const))(
    "%s has its events in the same order",
    async (_id, replay) => {
      const { events } = await runReplay(replay);
      expect(listEventTypes(events)).toEqual(listEventTypes(replay.events));
    },
  );
});
