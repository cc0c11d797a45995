import { describe, expect, test } from "vitest";
import { createTurnState } from "../../../tests/support/local/turn-state.ts";
import { useTool } from "../responses/use-tool.ts";

describe("Shell commands", () => {
  test("report a timeout without an exit code", async () => {
    const tools = [{ type: "shell", environment: { type: "container_auto" } }];
    const state = createTurnState({
      tools,
      shell: { stdout: "1", exitCode: null, timedOut: true },
    });
    expect(await useTool({ shell: ["sleep 9"] }, state)).toBe(false);
    expect(state.output[1]).toMatchObject({
      output: [{ stdout: "1", stderr: "", outcome: { type: "timeout" } }],
    });
  });

  test.each([{}, { environment: null }, { environment: { type: "local" } }])(
    "are passed to the client with %j",
    async (more) => {
      const state = createTurnState({ tools: [{ type: "shell", ...more }] });
      expect(await useTool({ shell: ["ls"] }, state)).toBe(true);
      expect(state.output).toMatchObject([{ environment: { type: "local" } }]);
    },
  );
});
