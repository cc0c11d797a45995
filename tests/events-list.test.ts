import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SymbolFlags } from "typescript/unstable/sync";
import { expect, test } from "vitest";
import { isSource, openProject } from "../scripts/words/typescript-project.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** The fields that the guide lists once, because every event of an evaluation has them. */
const STAMP = ["sessionId", "promptName", "adapter", "createdAt", "nested"];

test("the sessions guide lists every event of the library, with all of its fields", () => {
  const documented = readDocumentedEvents();
  expect(documented.size).toBeGreaterThan(15);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(findLibraryEvents()));
});

/** Reads the rows of the table: the event, and its fields without `type` and the stamp. */
function readDocumentedEvents(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(`${ROOT}docs/guides/sessions.md`, "utf8");
  const [, section = ""] = page.split("\n## Every event\n");
  const [table = ""] = section.split("\n## ");
  const rows = [...table.matchAll(/^\| `(\w+)` \|[^|]*\| (.*) \|$/gm)];
  return new Map(
    rows.map(([, event = "", fields = ""]) => [
      event,
      [...fields.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).sort(),
    ]),
  );
}

/** Finds the members of `EventMap` that the library declares, but not tests, contracts and the demo. */
function findLibraryEvents(): ReadonlyMap<string, readonly string[]> {
  using project = openProject(ROOT);
  const { checker, files } = project;
  const entry = files.get("src/index.ts");
  const module = entry && checker.getSymbolAtLocation(entry);
  if (!module) throw new Error("src/index.ts cannot be read");
  const exported = checker.getExportsOfModule(module).find(({ name }) => name === "EventMap");
  if (!exported) throw new Error("src/index.ts does not export EventMap");
  const isAlias = (exported.flags & SymbolFlags.Alias) !== 0;
  const map = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const paths = new Map([...files].map(([path, { fileName }]) => [fileName, path] as const));
  const events = new Map<string, readonly string[]>();
  for (const member of checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(map))) {
    const [declaration] = member.declarations;
    const path = paths.get(declaration?.resolve()?.getSourceFile().fileName ?? "") ?? "";
    if (!isSource(path) || /^src\/(cli|testing)\//.test(path)) continue;
    const type = checker.getTypeOfSymbol(member);
    const names = type ? checker.getPropertiesOfType(type).map(({ name }) => name) : [];
    const isStamped = STAMP.every((name) => names.includes(name));
    const omitted = ["type", ...(isStamped ? STAMP : [])];
    events.set(member.name, names.filter((name) => !omitted.includes(name)).sort());
  }
  return events;
}
