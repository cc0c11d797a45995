import { expect, test } from "vitest";
import { createNameBeside } from "./name-beside.ts";

test.each([
  ["a.txt", "a.container.txt"],
  ["a.tar.gz", "a.tar.container.gz"],
  ["Makefile", "Makefile.container"],
  [".env", ".env.container"],
  [".eslintrc.json", ".eslintrc.container.json"],
  ["a.", "a.container."],
  ["größe.py", "größe.container.py"],
])("the name beside %j is %j", (name, beside) => {
  expect(createNameBeside(name, 1)).toBe(beside);
});

test("later names are numbered", () => {
  expect([createNameBeside("a.txt", 2), createNameBeside("Makefile", 10)]).toEqual([
    "a.container-2.txt",
    "Makefile.container-10",
  ]);
});

test.each([
  ["x".repeat(255), 255],
  [`${"ü".repeat(125)}.txt`, 254],
  [`a.${"x".repeat(253)}`, 255],
])("a long name is shortened to 255 bytes: %s", (name, bytes) => {
  const beside = createNameBeside(name, 1);
  expect(Buffer.byteLength(beside)).toBe(bytes);
  expect(beside).toContain(".container");
  expect(beside.isWellFormed()).toBe(true);
});
