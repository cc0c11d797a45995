import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const doors = [
  "src/index.ts",
  "src/claude/index.ts",
  "src/files/index.ts",
  "src/local/index.ts",
  "src/openai/index.ts",
  "src/stores/index.ts",
  "src/testing/index.ts",
];

test.each(doors)("every name that %s exports says in a sentence what it is", async (door) => {
  const bare: string[] = [];
  for (const { name, file } of await exportsOf(door)) {
    const code = await readFile(file, "utf8");
    const declaration = new RegExp(
      String.raw`(\*/\n)?^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|function|const) ${name}\b`,
      "m",
    ).exec(code);
    expect(declaration, `${name} in ${file}`).not.toBeNull();
    if (declaration?.[1] === undefined) bare.push(`${file}: ${name}`);
  }
  expect(bare).toEqual([]);
});

test.each(doors)("%s exports names one by one, and says that each is public", async (door) => {
  const code = await readFile(door, "utf8");
  expect(code).not.toMatch(/export \*/);
  expect(code).toContain("A name added here is public");
});

async function exportsOf(door: string) {
  const code = await readFile(door, "utf8");
  const statements = [...code.matchAll(/export (?:type )?\{([^}]+)\} from "([^"]+)"/g)];
  expect(statements.length).toBeGreaterThan(0);
  return statements.flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.replace(/\btype\b/, "").trim())
      .filter((name) => name !== "")
      .map((name) => ({ name, file: join(door, "..", from) })),
  );
}
