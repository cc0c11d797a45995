import { describe, expect, it } from "vitest";
import { codeInterpreterTool } from "weakincentives";
import { promptWith, type RunOptions, runOn } from "../../../tests/support/openai-run.ts";
import {
  codeInterpreterCall,
  message,
  type RouteAnswer,
} from "../../../tests/support/wire-server.ts";

const deleted = { json: { id: "cntr_1", object: "container.deleted", deleted: true } };

/** Code runs twice in the one container, then in another. */
async function running(options: {
  readonly zdrMode?: boolean;
  readonly remove?: (nth: number) => RouteAnswer;
  readonly named?: string;
  readonly run?: RunOptions;
}) {
  const { zdrMode = true, remove = () => deleted, named } = options;
  let removals = 0;
  const container = named === undefined ? undefined : { id: named };
  const prompt = promptWith({ hostedTools: [codeInterpreterTool(container && { container })] });
  const inside = (id: string) => ({ ...codeInterpreterCall("1 + 1"), container_id: id });
  const logged: [string, object | undefined][] = [];
  const log = (said: string, facts?: object) => void logged.push([said, facts]);
  const run = await runOn(
    [[inside("cntr_1"), inside("cntr_1"), inside("cntr_2"), message("Two.")]],
    {
      prompt,
      adapter: {
        compaction: { zdrMode },
        checkContainers: false,
        throttle: { maxAttempts: 3, baseDelayMs: 1 },
        logger: { debug: log, info: log, warn: log, error: log },
      },
      server: {
        routes: {
          "DELETE /containers/cntr_1": () => remove(++removals),
          "DELETE /containers/cntr_2": deleted,
        },
      },
    },
  );
  const removed = run.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  const held = run.bus.of("DataHeld").map(({ containerId, until }) => [containerId, until]);
  return { ...run, removed, held, logged };
}

describe("a container that code ran in, where the provider is to keep nothing", () => {
  it("is announced once, and removed when the evaluation is over", async () => {
    const { held, removed, bus } = await running({});
    expect(held).toEqual([
      ["cntr_1", "the evaluation is over"],
      ["cntr_2", "the evaluation is over"],
    ]);
    expect(removed).toEqual(["/containers/cntr_1", "/containers/cntr_2"]);
    expect(bus.of("DataHeld")).toMatchObject([{ promptName: "test:run" }, {}]);
  });

  it("is left alone otherwise", async () => {
    const { held, removed } = await running({ zdrMode: false });
    expect([held, removed]).toEqual([[], []]);
  });

  it("stays, though it is announced, if the caller made it", async () => {
    const { held, removed } = await running({ named: "cntr_1" });
    expect(held).toEqual([
      ["cntr_1", "you remove it"],
      ["cntr_2", "the evaluation is over"],
    ]);
    expect(removed).toEqual(["/containers/cntr_2"]);
  });

  it("is removed however long a throttled provider takes for it", async () => {
    const throttled = { status: 429, error: { message: "Slow down." } };
    const { removed } = await running({ remove: (nth) => (nth < 3 ? throttled : deleted) });
    expect(removed.filter((path) => path.endsWith("cntr_1"))).toHaveLength(3);
  });

  it("that cannot be removed is told in the log, and costs neither the answer nor the next one", async () => {
    const forbidden = { status: 403, error: { message: "Not yours." } };
    const { response, removed, logged } = await running({ remove: () => forbidden });
    expect(response?.text).toBe("Two.");
    expect(removed).toContain("/containers/cntr_2");
    expect(logged).toContainEqual([
      "a container that holds data could not be removed",
      { id: "cntr_1", problem: expect.stringContaining("Not yours") },
    ]);
  });

  it("that is gone already is no problem", async () => {
    const missing = { status: 404, error: { message: "Container not found." } };
    const { response, logged } = await running({ remove: () => missing });
    expect(response?.text).toBe("Two.");
    expect(logged.map(([said]) => said)).not.toContain(
      "a container that holds data could not be removed",
    );
  });
});
