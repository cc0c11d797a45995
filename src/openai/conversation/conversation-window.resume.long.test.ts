import { describe, expect, it } from "vitest";
import { createTaskPrompt, lookTool } from "../../../tests/support/openai-run.ts";
import {
  expectSameAfterKills,
  KilledRuns,
  listEvents,
  openAfter,
} from "../../../tests/support/resume/killed-runs.ts";
import {
  createLookPrompt,
  createLookTurn,
  createUsage,
} from "../../../tests/support/resume/look-turn.ts";
import { repeatableRoutes } from "../../../tests/support/resume/repeatable-routes.ts";
import { createSortPrompt } from "../../../tests/support/roles-run.ts";
import {
  functionCall,
  message,
  type SeenRequest,
  type WireAnswer,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { readRecords } from "../../base/json.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { historySlice } from "../history/history-slice.ts";
import type { WireItem } from "../wire.ts";

const lookTurn = (nth: number): WireAnswer => ({
  output: createLookTurn(`call_${nth}`),
  usage: createUsage(60),
});
/** A call whose fields are in the order of the server. */
const createLook = (nth: number): WireItem => {
  const ids = { id: `fc_${nth}`, call_id: `call_${nth}` };
  return { ...ids, ...functionCall("look", {}, ids.call_id) };
};
const answerTurn: WireAnswer = { output: [message("Done.")], usage: createUsage(60) };

const routes = repeatableRoutes;
const createPrompt = createLookPrompt;
const adapter = { compaction: { thresholdTokens: 35 } };
const server = { compaction: { strategy: "server", thresholdTokens: 1000 } } as const;
const sealed = { id: "cmp_s", type: "compaction", encrypted_content: "sealed" };

const findCompactions = ({ requests }: { readonly requests: readonly string[] }) =>
  requests.filter((request) => request.startsWith("POST /responses/compact"));

/** Returns the types of a record's events. */
const listTypes = (line: string) => listEvents(line).map(({ type }) => type);
const isCompaction = (line: string) => listTypes(line).includes("CompactionKept");
const isStepAlone = (line: string) =>
  listTypes(line).includes("HistoryAdvanced") && !listTypes(line).includes("TurnCompleted");

describe("a conversation that was compacted and is resumed", () => {
  it("continues from the window", async () => {
    const script = [1, 2, 3, 4, 5].map((nth) => lookTurn(nth)).concat(answerTurn);
    const whole = await expectSameAfterKills({ script, routes, adapter, createPrompt });
    expect(findCompactions(whole).length).toBeGreaterThan(1);
  });

  it("compacts neither twice nor too late", async () => {
    const script = [1, 2, 3, 4].map((nth) => lookTurn(nth)).concat(answerTurn);
    await using runs = await KilledRuns.start({ script, routes, adapter, createPrompt });
    const { whole, first } = await runs.runWhole();
    for (let count = first; count <= whole.records.length; count++) {
      const resumed = await runs.expectSame(whole.records, count);
      const rest = whole.requests.slice(whole.requests.length - resumed.requests.length);
      expect(resumed.requests, `killed after ${whole.records[count - 1]}`).toEqual(rest);
      const [state, expected] = [resumed, whole].map(({ session }) => session.get(compactionSlice));
      expect(state).toEqual(expected);
      expect(resumed.session.get(historySlice)).toEqual(whole.session.get(historySlice));
    }
  });

  it("does not pay again for a compaction whose turn was in flight", async () => {
    const script = [1, 2, 3].map((nth) => lookTurn(nth)).concat(answerTurn);
    await using runs = await KilledRuns.start({ script, routes, adapter, createPrompt });
    const { whole } = await runs.runWhole();
    const resumed = await runs.expectSame(whole.records, whole.records.findIndex(isStepAlone) + 1);
    expect(resumed.requests[0]).toBe(`POST /responses ${resumed.turns[0]}`);
    expect(resumed.turns[0]).toContain("sealed");
  });

  it("picks up a response that was submitted after the compaction of its turn", async () => {
    const answers = [
      ...[1, 2, 3].map((nth) => [createLook(nth)]),
      [{ id: "msg_1", ...message("Done.") }],
    ].map((output, index) => ({ id: `resp_${index + 1}`, output, usage: createUsage(60) }));
    const fields = { object: "response", status: "completed", background: true, model: "gpt-5.2" };
    const stored = answers.map((one) => [
      `GET /responses/${one.id}`,
      { json: { ...fields, ...one } },
    ]);
    await using runs = await KilledRuns.start({
      script: answers,
      routes: { ...routes, ...Object.fromEntries(stored) },
      adapter: { ...adapter, delivery: "background" },
      createPrompt,
    });
    const { whole, first } = await runs.runWhole();
    const pickedUp: (string | undefined)[] = [];
    for (let count = first; count <= whole.records.length; count++) {
      const resumed = await runs.expectSame(whole.records, count);
      if (!whole.records[count - 1]?.includes('"TurnSubmitted"')) continue;
      pickedUp.push(resumed.requests[0]?.split(" ").slice(0, 2).join(" "));
      const before = whole.records.slice(0, count).filter(isCompaction).length;
      expect(findCompactions(resumed)).toHaveLength(findCompactions(whole).length - before);
    }
    expect(pickedUp).toEqual(stored.map(([path]) => path));
    expect(findCompactions(whole).length).toBeGreaterThan(0);
  });

  it("keeps the user's text that the window has replaced", async () => {
    const script = [1, 2, 3, 4].map((nth) => lookTurn(nth)).concat(answerTurn);
    await expectSameAfterKills({
      ...{ script, adapter, createPrompt: () => createSortPrompt() },
      evaluate: { input: "By size." },
      routes: {
        ...routes,
        "POST /responses/compact": () => ({
          json: {
            ...{
              id: "resp_c",
              object: "response.compaction",
              created_at: 1,
              usage: createUsage(40),
            },
            output: [{ id: "cmp_1", type: "compaction", encrypted_content: "sealed" }],
          },
        }),
      },
    });
  });

  it("keeps the backoff of compactions that did not help", async () => {
    const script = [1, 2, 3, 4, 5].map((nth) => lookTurn(nth)).concat(answerTurn);
    const verbatim = ({ body }: SeenRequest) => ({
      json: {
        ...{ id: "resp_c", object: "response.compaction", created_at: 1, usage: createUsage(40) },
        output: [
          ...readRecords(body, "input").filter(({ type }) => type === "compaction"),
          { id: "cmp_x", type: "compaction", encrypted_content: "x".repeat(4) },
        ],
      },
    });
    const whole = await expectSameAfterKills({
      ...{ script, adapter, createPrompt },
      routes: { ...routes, "POST /responses/compact": verbatim },
    });
    expect(whole.session.get(compactionSlice).backoff).toBeDefined();
  });

  it("starts again with the window of an earlier evaluation", async () => {
    const script = [lookTurn(0), answerTurn, lookTurn(1), lookTurn(2), answerTurn];
    const whole = await expectSameAfterKills({
      ...{ script, routes, adapter, createPrompt },
      before: async (before, session) => {
        await before.evaluate(createPrompt(), { session });
      },
    });
    expect(whole.turns[0]).toContain("sealed");
  });

  it("continues after the server's compaction, with the outputs of calls before it", async () => {
    const web = webSearchTool();
    const whole = await expectSameAfterKills({
      script: [
        { output: [webSearchCall("owls", ["https://owls.test"]), functionCall("look", {}, "c_1")] },
        {
          output: [webSearchCall("rats"), sealed, functionCall("look", {}, "c_2")],
          usage: createUsage(1900),
        },
        {
          output: [functionCall("look", {}, "c_3"), { ...sealed, id: "cmp_t" }],
          usage: createUsage(1900),
        },
        { output: [functionCall("look", {}, "c_4")], usage: createUsage(1400) },
        { output: [webSearchCall("owls"), message("Done.")] },
      ],
      adapter: server,
      createPrompt: () => createTaskPrompt({ tools: [lookTool], hostedTools: [web] }),
    });
    expect(whole.response.hostedOutputs.get(web)?.searches).toHaveLength(3);
    expect(whole.bus.of("CompactionKept")).toHaveLength(2);
  });

  it("forgets the server's compaction if the first turn was not stored", async () => {
    await using runs = await KilledRuns.start({
      script: [{ output: [sealed, functionCall("look", {}, "c_1")] }, answerTurn],
      ...{ adapter: server, createPrompt },
    });
    const { whole } = await runs.runWhole();
    const completed = whole.records.findIndex((line) => listTypes(line).includes("TurnCompleted"));
    expect(whole.records.findIndex(isCompaction)).toBe(completed);
    for (let count = 0; count <= whole.records.length; count++) {
      const { session } = await runs.expectSame(whole.records, count);
      expect(session.get(compactionSlice)).toEqual(whole.session.get(compactionSlice));
    }
  });

  it.each([false, true])(
    "compacts again if the first turn was not stored, with continue: %j",
    async (again) => {
      const whole = await expectSameAfterKills({
        script: [lookTurn(0), answerTurn, lookTurn(1), answerTurn],
        ...{ routes, createPrompt, adapter: { compaction: { thresholdTokens: 25 } } },
        before: async (before, session) => {
          await before.evaluate(createPrompt(), { session });
        },
        evaluate: { input: "By size.", continue: again },
      });
      expect(whole.requests[1]).toContain("POST /responses/compact");
      expect(whole.turns[0]?.match(/By size/g)).toHaveLength(1);
    },
  );
});

describe("a session whose process was lost", () => {
  it.each([
    ["endpoint", { script: [1, 2, 3].map(lookTurn).concat(answerTurn), routes, adapter }],
    [
      "server",
      {
        script: [
          { output: [sealed, functionCall("look", {}, "c_1")], usage: createUsage(1400) },
          { output: [{ ...sealed, id: "cmp_t" }, message("Done.")] },
        ],
        adapter: server,
      },
    ],
  ])("has no compaction of a turn that it does not have, with %s", async (_strategy, options) => {
    await using runs = await KilledRuns.start({ ...options, createPrompt });
    const { whole } = await runs.runWhole();
    expect(whole.bus.of("CompactionKept").length).toBeGreaterThan(1);
    for (let count = 1; count <= whole.records.length; count++) {
      const { session } = await openAfter(whole.records, count);
      const items = session.get(historySlice);
      expect(items).toEqual(expect.arrayContaining([...session.get(compactionSlice).window]));
    }
  });
});
