import { expect, test } from "vitest";
import { echoModel } from "./echo-model.ts";
import { scriptedModel } from "./scripted-model.ts";
import { isTrustedModel } from "./trusted-models.ts";

test("Only a scripted model and the echo run code of the user, and a copy of one does not", () => {
  const scripted = scriptedModel([[{ say: "Hello." }]]);
  for (const model of [undefined, echoModel(), scripted, scriptedModel(() => [])])
    expect(isTrustedModel(model)).toBe(true);
  expect(isTrustedModel({ ...scripted })).toBe(false);
  expect(isTrustedModel({ respond: async () => [] })).toBe(false);
});
