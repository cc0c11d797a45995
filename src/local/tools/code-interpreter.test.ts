import { describe, expect, test } from "vitest";
import { type TurnParts, turnState } from "../../../tests/support/local/turn-state.ts";
import { useTool } from "../responses/use-tool.ts";

const tools = [{ type: "code_interpreter", container: { type: "auto" } }];

async function outputsOf(python: NonNullable<TurnParts["python"]>) {
  const state = turnState({ tools, python });
  await useTool({ code: "…" }, state);
  return state.output[0]?.["outputs"];
}

describe("the outputs of code", () => {
  test("are none where it said nothing", async () => {
    expect(await outputsOf({})).toEqual([]);
  });

  test("are one text of all that it printed, each part on its line", async () => {
    const run = { stdout: "1\n", stderr: "careful", error: "ZeroDivisionError" };
    const logs = "1\ncareful\nZeroDivisionError\n";
    expect(await outputsOf(run)).toEqual([{ type: "logs", logs }]);
  });

  test("are images by their data", async () => {
    const images = [{ mediaType: "image/png", base64: "aGk=" }] as const;
    const image = { type: "image", url: "data:image/png;base64,aGk=" };
    expect(await outputsOf({ images })).toEqual([image]);
  });

  test.each([
    [{ timedOut: true }, "The code was interrupted: it took too long.\n"],
    [{ died: true }, "The interpreter was killed:"],
    [{ truncated: true, stdout: "1" }, "1\nThe output was cut off.\n"],
  ])("say how it ended: %j", async (run, said) => {
    expect(await outputsOf(run)).toEqual([{ type: "logs", logs: expect.stringContaining(said) }]);
  });
});
