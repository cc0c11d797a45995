import { describe, expect, test } from "vitest";
import { createTurnState, type TurnParts } from "../../../tests/support/local/turn-state.ts";
import { useTool } from "../responses/use-tool.ts";
import { builtInCatalog } from "./index.ts";

const dashes = "-".repeat(75);
const tools = [{ type: "code_interpreter", container: { type: "auto" } }];

async function runPython(python: NonNullable<TurnParts["python"]>) {
  const [call] = await runCall(python);
  return call?.["outputs"];
}

async function runCall(python: NonNullable<TurnParts["python"]>) {
  const state = createTurnState({ tools, python });
  await useTool({ code: "…" }, state);
  return state.output;
}

describe("The outputs of code", () => {
  test("are empty without printed output", async () => {
    expect(await runPython({})).toEqual([]);
  });

  test("combine everything printed into one text, with each part on its own line", async () => {
    const run = { stdout: "1\n", stderr: "careful", error: "ZeroDivisionError: division by zero" };
    const logs = `1\ncareful\n${dashes}\nZeroDivisionError                         Traceback (most recent call last)\nZeroDivisionError: division by zero\n`;
    expect(await runPython(run)).toEqual([{ type: "logs", logs }]);
  });

  test("keep stdout and stderr in the order of printing, if the sandbox knows it", async () => {
    const run = { stdout: "1\n3\n", stderr: "2\n", output: "1\n2\n3\n" };
    expect(await runPython(run)).toEqual([{ type: "logs", logs: "1\n2\n3\n" }]);
  });

  test("end with the exception, even if output was truncated", async () => {
    const run = { stdout: "1", truncated: true, error: "SystemExit: 3" };
    const logs =
      "1\nThe output was truncated.\nAn exception has occurred, use %tb to see the full traceback.\n\nSystemExit: 3\n";
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

describe("The call of code", () => {
  test.each([
    [{}, "completed"],
    [{ error: "ValueError: boom" }, "completed"],
    [{ error: "SystemExit: 3" }, "completed"],
    [{ timedOut: true, error: "KeyboardInterrupt" }, "failed"],
    [{ died: true, error: "The interpreter was killed by signal 9." }, "failed"],
    [{ died: true, timedOut: true }, "failed"],
  ])(
    "with the result %j has the status %s and no field that the API lacks",
    async (run, status) => {
      const [call] = await runCall(run);
      expect(call).toMatchObject({ status });
      expect(Object.keys(call ?? {}).sort()).toEqual([
        "code",
        "container_id",
        "id",
        "outputs",
        "status",
        "type",
      ]);
    },
  );

  test("that failed has no completed event in a stream", async () => {
    const events = builtInCatalog.byItem.get("code_interpreter_call")?.events;
    const [failed = {}] = await runCall({ died: true });
    const [completed = {}] = await runCall({});
    expect(events?.(failed).finished).toEqual([]);
    expect(events?.(completed).finished).toMatchObject([
      { type: "response.code_interpreter_call.completed" },
    ]);
  });
});
