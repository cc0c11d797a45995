import { expect, test } from "vitest";
import { nightModel } from "./greenhouse-night.ts";

const request = { model: "m", instructions: null, items: [], tools: [], toolChoice: "auto" };

test("The model of the demo does nothing more once the night is over", async () => {
  const model = nightModel({ hasPython: true });
  const actions = await model.respond({ ...request, format: null, turn: 99, text: "" });
  expect(actions).toEqual([{ fail: { message: "The night is over." } }]);
});

test("The model of the demo runs no code where there is no Python, and still answers", async () => {
  const model = nightModel({ hasPython: false });
  const turns = await Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      model.respond({ ...request, format: null, turn, text: "" }),
    ),
  );
  expect(JSON.stringify(turns)).not.toContain('"code"');
  expect(turns[6]).toMatchObject([{ say: { ventPercent: 100, wakeSomebody: false } }]);
  expect(turns[7]).toEqual([{ fail: { message: "The night is over." } }]);
});
