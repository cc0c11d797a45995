import { expect, test } from "vitest";
import { nightModel } from "./greenhouse-night.ts";

test("The model of the demo does nothing more once the night is over", async () => {
  const request = { model: "m", instructions: null, items: [], tools: [], toolChoice: "auto" };
  const actions = await nightModel().respond({ ...request, format: null, turn: 99, text: "" });
  expect(actions).toEqual([{ fail: { message: "The night is over." } }]);
});
