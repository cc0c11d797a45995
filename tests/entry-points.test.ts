import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const entryPoints = [
  "src/index.ts",
  "src/claude/index.ts",
  "src/files/index.ts",
  "src/fleet/index.ts",
  "src/local/index.ts",
  "src/mcp/index.ts",
  "src/openai/index.ts",
  "src/stores/index.ts",
  "src/telemetry/index.ts",
  "src/testing/index.ts",
];

test.each(entryPoints)("%s exports only names with a doc comment", async (entryPoint) => {
  const undocumented: string[] = [];
  for (const { name, file } of await readExports(entryPoint)) {
    const code = await readFile(file, "utf8");
    const declaration = new RegExp(
      String.raw`(\*/\n)?^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|function|const) ${name}\b`,
      "m",
    ).exec(code);
    expect(declaration, `${name} in ${file}`).not.toBeNull();
    if (declaration?.[1] === undefined) undocumented.push(`${file}: ${name}`);
  }
  expect(undocumented).toEqual([]);
});

test.each(entryPoints)(
  "%s exports names one by one, with a note that each is public",
  async (entryPoint) => {
    const code = await readFile(entryPoint, "utf8");
    expect(code).not.toMatch(/export \*/);
    expect(code).toContain("Every name exported here is public");
  },
);

async function readExports(entryPoint: string) {
  const code = await readFile(entryPoint, "utf8");
  const statements = [...code.matchAll(/export (?:type )?\{([^}]+)\} from "([^"]+)"/g)];
  expect(statements.length).toBeGreaterThan(0);
  return statements.flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.replace(/\btype\b/, "").trim())
      .filter((name) => name !== "")
      .map((name) => ({ name, file: join(entryPoint, "..", from) })),
  );
}
