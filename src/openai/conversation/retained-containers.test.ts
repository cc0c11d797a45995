import { describe, expect, it } from "vitest";
import { codeInterpreterTool } from "weakincentives";
import { createTaskPrompt, type RunOptions, runScript } from "../../../tests/support/openai-run.ts";
import {
  codeInterpreterCall,
  message,
  type RouteAnswer,
} from "../../../tests/support/wire-server.ts";

const deleted = { json: { id: "cntr_1", object: "container.deleted", deleted: true } };

/** Runs code twice in one container and once in another. */
async function runCode(options: {
  readonly zdrMode?: boolean;
  readonly remove?: (nth: number) => RouteAnswer;
  readonly callerContainer?: string;
  readonly run?: RunOptions;
}) {
  const { zdrMode = true, remove = () => deleted, callerContainer } = options;
  let removals = 0;
  const container = callerContainer === undefined ? undefined : { id: callerContainer };
  const prompt = createTaskPrompt({
    hostedTools: [codeInterpreterTool(container && { container })],
  });
  const callIn = (id: string) => ({ ...codeInterpreterCall("1 + 1"), container_id: id });
  const logged: [string, object | undefined][] = [];
  const log = (text: string, facts?: object) => void logged.push([text, facts]);
  const run = await runScript(
    [[callIn("cntr_1"), callIn("cntr_1"), callIn("cntr_2"), message("Two.")]],
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

describe("a container that code ran in with zdrMode", () => {
  it("is published once as DataHeld and removed when the evaluation ends", async () => {
    const { held, removed, bus } = await runCode({});
    expect(held).toEqual([
      ["cntr_1", "the evaluation ends"],
      ["cntr_2", "the evaluation ends"],
    ]);
    expect(removed).toEqual(["/containers/cntr_1", "/containers/cntr_2"]);
    expect(bus.of("DataHeld")).toMatchObject([{ promptName: "test:run" }, {}]);
  });

  it("is neither published nor removed without zdrMode", async () => {
    const { held, removed } = await runCode({ zdrMode: false });
    expect([held, removed]).toEqual([[], []]);
  });

  it("is published but not removed if the caller created it", async () => {
    const { held, removed } = await runCode({ callerContainer: "cntr_1" });
    expect(held).toEqual([
      ["cntr_1", "you remove it"],
      ["cntr_2", "the evaluation ends"],
    ]);
    expect(removed).toEqual(["/containers/cntr_2"]);
  });

  it("is removed with retries while the provider throttles", async () => {
    const throttled = { status: 429, error: { message: "Slow down." } };
    const { removed } = await runCode({ remove: (nth) => (nth < 3 ? throttled : deleted) });
    expect(removed.filter((path) => path.endsWith("cntr_1"))).toHaveLength(3);
  });

  it("is logged if it cannot be removed, without losing the answer or skipping other containers", async () => {
    const forbidden = { status: 403, error: { message: "Not yours." } };
    const { response, removed, logged } = await runCode({ remove: () => forbidden });
    expect(response?.text).toBe("Two.");
    expect(removed).toContain("/containers/cntr_2");
    expect(logged).toContainEqual([
      "could not remove a container that retains data",
      { id: "cntr_1", problem: expect.stringContaining("Not yours") },
    ]);
  });

  it("logs no error if it no longer exists", async () => {
    const missing = { status: 404, error: { message: "Container not found." } };
    const { response, logged } = await runCode({ remove: () => missing });
    expect(response?.text).toBe("Two.");
    expect(logged.map(([text]) => text)).not.toContain(
      "could not remove a container that retains data",
    );
  });
});
