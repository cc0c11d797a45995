import { expect, test } from "vitest";
import { giveCredit, newCredits, takeCredit } from "./credits.ts";

test("credits are taken one by one, and given back", () => {
  const credits = newCredits(2);
  takeCredit(credits);
  takeCredit(credits);
  expect([...credits]).toEqual([0]);
  giveCredit(credits);
  takeCredit(credits);
  expect([...credits]).toEqual([0]);
});
