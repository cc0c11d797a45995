import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { builtInCatalog } from "../../tools/index.ts";
import type { StartedResponse } from "../started-response.ts";
import { BackgroundResponses } from "./background-responses.ts";

const response = { id: "resp_1", created_at: 1, status: "queued", background: true };

/** Creates background responses whose turns end when the test says so, without a database. */
function createStage({ isBroken = false } = {}) {
  const turn = Promise.withResolvers<WireItem>();
  const [faults, stored]: [unknown[], unknown[]] = [[], []];
  const state = { isRunning: true };
  const background = new BackgroundResponses({
    responses: { finish: () => turn.promise },
    conversations: {
      lock: () => null,
      storeRunning: () => {},
      store(finished) {
        if (isBroken) throw new Error("The disk is full.");
        stored.push(finished.response["status"]);
      },
    },
    store: { isRunning: () => state.isRunning },
    catalog: builtInCatalog,
    onFault: (error) => void faults.push(error),
  });
  const request = { include: new Set(), echo: { tools: [] } };
  const run = background.start({ request, response } as unknown as StartedResponse);
  const readEnd = async () => {
    let last: object = {};
    for await (const step of run.readSteps(new AbortController().signal)) last = step;
    return last;
  };
  return { background, turn, faults, stored, state, readEnd };
}

describe("BackgroundResponses", () => {
  test("ends its streams and reports the fault if the end cannot be stored", async () => {
    const { background, faults, readEnd } = createStage({ isBroken: true });
    await background.cancel("resp_1");
    expect(await readEnd()).toMatchObject({ end: { status: "cancelled" } });
    expect(faults).toMatchObject([{ message: "The disk is full." }]);
    expect(background.find("resp_1")).toBeUndefined();
  });

  test("does not cancel or close a response that was just stored", async () => {
    const { background, turn, stored, state, readEnd } = createStage();
    state.isRunning = false;
    const ends = [background.cancel("resp_1"), background[Symbol.asyncDispose]()];
    turn.resolve({ ...response, status: "completed" });
    await Promise.all(ends);
    expect(await readEnd()).toMatchObject({ end: { status: "completed" } });
    expect(stored).toEqual([]);
  });

  test("ignores the cancellation of a response that is not running", async () => {
    const { background, turn } = createStage();
    await background.cancel("resp_2");
    expect(background.find("resp_1")).toBeDefined();
    turn.resolve(response);
    await background[Symbol.asyncDispose]();
  });
});
