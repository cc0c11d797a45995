import { describe, expect, test } from "vitest";
import { createTurnState, type TurnParts } from "../../../tests/support/local/turn-state.ts";
import { useTool } from "../responses/use-tool.ts";

const tools = [{ type: "code_interpreter", container: { type: "auto" } }];

async function runPython(python: NonNullable<TurnParts["python"]>) {
  const state = createTurnState({ tools, python });
  await useTool({ code: "…" }, state);
  return state.output[0]?.["outputs"];
}

describe("The outputs of code", () => {
  test("are empty without printed output", async () => {
    expect(await runPython({})).toEqual([]);
  });

  test("combine everything printed into one text, with each part on its own line", async () => {
    const run = { stdout: "1\n", stderr: "careful", error: "ZeroDivisionError" };
    const logs = "1\ncareful\nZeroDivisionError\n";
    expect(await runPython(run)).toEqual([{ type: "logs", logs }]);
  });

  test("include images as data URLs", async () => {
    const images = [{ mediaType: "image/png", base64: "aGk=" }] as const;
    const image = { type: "image", url: "data:image/png;base64,aGk=" };
    expect(await runPython({ images })).toEqual([image]);
  });

  test.each([
    [{ timedOut: true }, "The code was interrupted: it took too long.\n"],
    [{ died: true }, "The interpreter was killed:"],
    [{ truncated: true, stdout: "1" }, "1\nThe output was truncated.\n"],
  ])("explain how the code ended: %j", async (run, text) => {
    expect(await runPython(run)).toEqual([{ type: "logs", logs: expect.stringContaining(text) }]);
  });
});
