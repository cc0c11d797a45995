import { expect, test } from "vitest";
import { countryCodes } from "./countries.ts";

test("ISO 3166-1 has 249 codes of two capitals", () => {
  expect(countryCodes.size).toBe(249);
  for (const code of countryCodes) expect(code).toMatch(/^[A-Z]{2}$/);
});

test.each(["AX", "BL", "BQ", "CW", "GG", "IM", "JE", "MF", "SS", "SX", "TL", "PS", "TW", "US"])(
  "%s is one of them",
  (code) => expect(countryCodes.has(code)).toBe(true),
);

test.each(["AN", "CS", "EU", "SU", "TP", "UK", "UN", "XK", "YU", "ZZ", "gb", ""])(
  "%j is none of them",
  (code) => expect(countryCodes.has(code)).toBe(false),
);

test("the set itself is frozen", () => {
  expect(Object.isFrozen(countryCodes)).toBe(true);
});
