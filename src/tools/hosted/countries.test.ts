import { expect, test } from "vitest";
import { countryCodes } from "./countries.ts";

test("countryCodes has the 249 two-letter codes of ISO 3166-1", () => {
  expect(countryCodes.size).toBe(249);
  for (const code of countryCodes) expect(code).toMatch(/^[A-Z]{2}$/);
});

test.each(["AX", "BL", "BQ", "CW", "GG", "IM", "JE", "MF", "SS", "SX", "TL", "PS", "TW", "US"])(
  "countryCodes contains %s",
  (code) => expect(countryCodes.has(code)).toBe(true),
);

test.each(["AN", "CS", "EU", "SU", "TP", "UK", "UN", "XK", "YU", "ZZ", "gb", ""])(
  "countryCodes does not contain %j",
  (code) => expect(countryCodes.has(code)).toBe(false),
);

test("countryCodes is frozen", () => {
  expect(Object.isFrozen(countryCodes)).toBe(true);
});
