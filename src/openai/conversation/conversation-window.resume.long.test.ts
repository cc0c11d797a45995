import { describe, expect, it } from "vitest";
import { createTaskPrompt } from "../../../tests/support/openai-run.ts";
import {
  expectSameAfterKills,
  type KilledRunOptions,
  KilledRuns,
} from "../../../tests/support/resume/killed-runs.ts";
import { createSortPrompt } from "../../../tests/support/roles-run.ts";
import {
  functionCall,
  message,
  reasoning,
  type SeenRequest,
  type WireAnswer,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { readRecords } from "../../base/json.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { historySlice } from "../history/history-slice.ts";
import type { WireItem } from "../wire.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  effects: "none",
  handler: () => ToolResult.ok(null, "Seen."),
});

const usage = (tokens: number) => ({
  input_tokens: tokens,
  output_tokens: 5,
  total_tokens: tokens + 5,
});

const lookTurn = (nth: number, tokens = 60): WireAnswer => ({
  output: [reasoning(`rs_${nth}`), functionCall("look", {}, `call_${nth}`)],
  usage: usage(tokens),
});
/** A call whose fields are in the order of the server. */
const createLook = (nth: number): WireItem => {
  const ids = { id: `fc_${nth}`, call_id: `call_${nth}` };
  return { ...ids, ...functionCall("look", {}, ids.call_id) };
};
const answerTurn = (tokens = 60): WireAnswer => ({
  output: [message("Done.")],
  usage: usage(tokens),
});

/** Compacts to an item that depends on the request only. A count is ten tokens for each item. */
const routes: KilledRunOptions["routes"] = {
  "POST /responses/input_tokens": ({ body }: SeenRequest) => ({
    json: { object: "response.input_tokens", input_tokens: 10 * readRecords(body, "input").length },
  }),
  "POST /responses/compact": ({ text, body }: SeenRequest) => {
    const user = readRecords(body, "input").filter(({ role }) => role === "user");
    const id = `cmp_${text.length}_${readRecords(body, "input").length}`;
    const output = [...user, { id, type: "compaction", encrypted_content: `sealed ${id}` }];
    const fields = { id: "resp_c", object: "response.compaction", created_at: 1 };
    return { json: { ...fields, output, usage: usage(40) } };
  },
};
const adapter = { compaction: { thresholdTokens: 35 } };
const createPrompt = () => createTaskPrompt({ tools: [look] });

const findCompactions = ({ requests }: { readonly requests: readonly string[] }) =>
  requests.filter((request) => request.startsWith("POST /responses/compact"));

const isCompaction = (line = "{}") => JSON.parse(line).event?.type === "CompactionKept";

describe("a conversation that was compacted and is resumed", () => {
  it("continues from the window", async () => {
    const script = [1, 2, 3, 4, 5].map((nth) => lookTurn(nth)).concat(answerTurn());
    const whole = await expectSameAfterKills({ script, routes, adapter, createPrompt });
    expect(findCompactions(whole).length).toBeGreaterThan(1);
  });

  it("compacts neither twice nor too late", async () => {
    const script = [1, 2, 3, 4].map((nth) => lookTurn(nth)).concat(answerTurn());
    await using runs = await KilledRuns.start({ script, routes, adapter, createPrompt });
    const { whole, first } = await runs.runWhole();
    for (let count = first; count <= whole.records.length; count++) {
      const resumed = await runs.expectSame(whole.records, count);
      const rest = whole.requests.slice(whole.requests.length - resumed.requests.length);
      expect(resumed.requests, `killed after ${whole.records[count - 1]}`).toEqual(rest);
      const [state, expected] = [resumed, whole].map(({ session }) => session.get(compactionSlice));
      // A compaction that was stored before the process was lost, and is repeated, counts twice.
      const isRepeated = isCompaction(whole.records[count - 1]);
      const more = { compactionCount: (expected?.compactionCount ?? 0) + (isRepeated ? 1 : 0) };
      expect(state).toEqual({ ...expected, ...more });
      expect(resumed.session.get(historySlice)).toEqual(whole.session.get(historySlice));
    }
  });

  it("does not pay again for a compaction whose turn was in flight", async () => {
    const script = [1, 2, 3].map((nth) => lookTurn(nth)).concat(answerTurn());
    await using runs = await KilledRuns.start({ script, routes, adapter, createPrompt });
    const { whole } = await runs.runWhole();
    const isAlone = (line: string) => JSON.parse(line).event?.type === "HistoryAdvanced";
    const resumed = await runs.expectSame(whole.records, whole.records.findIndex(isAlone) + 1);
    expect(resumed.requests[0]).toBe(`POST /responses ${resumed.turns[0]}`);
    expect(resumed.turns[0]).toContain("sealed");
  });

  it("picks up a response that was submitted after the compaction of its turn", async () => {
    const answers = [
      ...[1, 2, 3].map((nth) => [createLook(nth)]),
      [{ id: "msg_1", ...message("Done.") }],
    ].map((output, index) => ({ id: `resp_${index + 1}`, output, usage: usage(60) }));
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
    const script = [1, 2, 3, 4].map((nth) => lookTurn(nth)).concat(answerTurn());
    await expectSameAfterKills({
      ...{ script, adapter, createPrompt: () => createSortPrompt() },
      evaluate: { input: "By size." },
      routes: {
        ...routes,
        "POST /responses/compact": () => ({
          json: {
            ...{ id: "resp_c", object: "response.compaction", created_at: 1, usage: usage(40) },
            output: [{ id: "cmp_1", type: "compaction", encrypted_content: "sealed" }],
          },
        }),
      },
    });
  });

  it("keeps the backoff of compactions that did not help", async () => {
    const script = [1, 2, 3, 4, 5].map((nth) => lookTurn(nth)).concat(answerTurn());
    const verbatim: NonNullable<typeof routes>[string] = ({ body }: SeenRequest) => ({
      json: {
        ...{ id: "resp_c", object: "response.compaction", created_at: 1, usage: usage(40) },
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
    const script = [lookTurn(0), answerTurn(), lookTurn(1), lookTurn(2), answerTurn()];
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
    const sealed = { id: "cmp_s", type: "compaction", encrypted_content: "sealed" };
    const whole = await expectSameAfterKills({
      script: [
        { output: [webSearchCall("owls", ["https://owls.test"]), functionCall("look", {}, "c_1")] },
        {
          output: [webSearchCall("rats"), sealed, functionCall("look", {}, "c_2")],
          usage: usage(1900),
        },
        {
          output: [functionCall("look", {}, "c_3"), { ...sealed, id: "cmp_t" }],
          usage: usage(1900),
        },
        { output: [functionCall("look", {}, "c_4")], usage: usage(1400) },
        { output: [webSearchCall("owls"), message("Done.")] },
      ],
      adapter: { compaction: { strategy: "server", thresholdTokens: 1000 } },
      createPrompt: () => createTaskPrompt({ tools: [look], hostedTools: [web] }),
    });
    expect(whole.response.hostedOutputs.get(web)?.searches).toHaveLength(3);
    expect(whole.bus.of("CompactionKept")).toHaveLength(2);
  });
});
