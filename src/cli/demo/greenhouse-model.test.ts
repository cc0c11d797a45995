import { expect, test } from "vitest";
import { greenhouseModel } from "./greenhouse-model.ts";

const request = { model: "m", instructions: null, items: [], tools: [], toolChoice: "auto" };

test("the demo's model fails after its last step", async () => {
  const model = greenhouseModel({ hasPython: true });
  const actions = await model.respond({ ...request, format: null, turn: 99, text: "" });
  expect(actions).toEqual([{ fail: { message: "The night is over." } }]);
});

test("the demo's model runs no code without Python and still answers", async () => {
  const model = greenhouseModel({ hasPython: false });
  const turns = await Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      model.respond({ ...request, format: null, turn, text: "" }),
    ),
  );
  expect(JSON.stringify(turns)).not.toContain('"code"');
  expect(turns[6]).toMatchObject([{ say: { ventPercent: 100, wakeGardener: false } }]);
  expect(turns[7]).toEqual([{ fail: { message: "The night is over." } }]);
});
