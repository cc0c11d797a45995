import fc from "fast-check";
import { PATH_LOOKUP } from "./reference-folder.ts";

/** Files by path, decoded as Latin-1. */
export type Files = ReadonlyMap<string, string>;

/** A change that code makes. `which` selects an existing file. */
export type CodeChange =
  | { readonly does: "create" | "edit" | "delete"; readonly which: number; readonly text: string }
  | { readonly does: "keep the size" | "move" | "move a folder"; readonly which: number }
  | { readonly does: "remove a folder"; readonly which: number };

/** Uses few names, so that paths often collide as files and folders. */
export const arbitraryPath = fc
  .array(fc.constantFrom("a", "b.txt", "ä ü", "d"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));

/** File contents: empty, short or up to 40,000 bytes. */
export const arbitraryText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: fc.constantFrom("x", "\n", "\0", "ÿ"), maxLength: 6 }),
  },
  { weight: 1, arbitrary: fc.nat({ max: 40_000 }).map((length) => "z".repeat(length)) },
);

/** Any code change. */
export const arbitraryCodeChange: fc.Arbitrary<CodeChange> = fc.oneof(
  fc.record({
    does: fc.constantFrom("create" as const, "edit" as const, "delete" as const),
    which: fc.nat({ max: 40 }),
    text: arbitraryText,
  }),
  fc.record({
    does: fc.constantFrom(
      "keep the size" as const,
      "move" as const,
      "move a folder" as const,
      "remove a folder" as const,
    ),
    which: fc.nat({ max: 40 }),
  }),
);

/** Python code, and the files after it has run. */
export interface PlannedCode {
  readonly code: string;
  readonly after: Files;
}

/** Creates Python code that prints a digest of the files it finds and then makes the changes. */
export function planCode(acts: readonly CodeChange[], before: Files): PlannedCode {
  const files = new Map(before);
  const lines = acts.flatMap((act, turn) => toPythonLines(act, files, turn));
  return { code: [PATH_LOOKUP, RUNTIME, ...lines, "None"].join("\n"), after: files };
}

/** Changes `files` and returns the Python line that does the same, or nothing if no file qualifies. */
function toPythonLines(
  act: CodeChange,
  files: Map<string, string>,
  turn: number,
): readonly string[] {
  const paths = [...files.keys()].sort();
  const path = paths[act.which % Math.max(paths.length, 1)] ?? "";
  const text = files.get(path) ?? "";
  switch (act.does) {
    case "create": {
      const made = `made/${act.which % 5}/${turn}.txt`;
      if (!isFree(made, files)) return [];
      files.set(made, act.text);
      return [`write(own(${toJson(made)}), ${toBase64(act.text)})`];
    }
    case "edit":
      return path === "" ? [] : overwriteFile(path, act.text, files);
    case "keep the size":
      return path === "" ? [] : overwriteFile(path, [...text].map(replaceByte).join(""), files);
    case "delete":
      if (!files.delete(path)) return [];
      return [`os.remove(at(${toJson(path)}))`];
    case "move":
      return path === "" ? [] : moveFiles([path], path, `moved/${turn}/x.txt`, files);
    case "move a folder":
    case "remove a folder": {
      const folder = path.slice(0, path.indexOf("/"));
      const inside = paths.filter((one) => folder !== "" && one.startsWith(`${folder}/`));
      if (inside.length === 0) return [];
      if (act.does === "move a folder") return moveFiles(inside, folder, `folder ${turn}`, files);
      for (const one of inside) files.delete(one);
      return [`remove(${toJson(folder)}, ${toJson(inside)})`];
    }
    default:
      return act satisfies never;
  }
}

function overwriteFile(path: string, text: string, files: Map<string, string>): readonly string[] {
  files.set(path, text);
  return [`write(at(${toJson(path)}), ${toBase64(text)})`];
}

function moveFiles(
  paths: readonly string[],
  from: string,
  to: string,
  files: Map<string, string>,
): readonly string[] {
  if (!isFree(to, files)) return [];
  for (const path of paths) {
    files.set(to + path.slice(from.length), files.get(path) ?? "");
    files.delete(path);
  }
  return [`move(${toJson(from)}, ${toJson(to)}, ${toJson(paths)})`];
}

/** Whether a file can be created at a path without colliding with a file or folder. */
function isFree(path: string, files: Files): boolean {
  return ![...files.keys()].some(
    (one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`),
  );
}

function replaceByte(byte: string): string {
  return byte === "k" ? "l" : "k";
}

function toJson(value: unknown): string {
  return JSON.stringify(value);
}

function toBase64(text: string): string {
  return toJson(Buffer.from(text, "latin1").toString("base64"));
}

/** Helpers for both container layouts: with flat names, files are moved one by one. */
const RUNTIME = `import base64, hashlib, re, shutil
os.chdir("/mnt/data")
def tree():
    found = dict(_places)
    for folder, _, names in os.walk("/mnt/data"):
        for name in names:
            full = os.path.join(folder, name)
            path = os.path.relpath(full, "/mnt/data")
            if not re.match("[0-9a-f]{32}-|wink-7c1e-", path):
                found.setdefault(path, full)
    lines = []
    for path in sorted(found, key=os.fsencode):
        lines.append(hashlib.sha256(open(found[path], "rb").read()).hexdigest() + "  " + path + "\\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()
def own(path):
    _places.pop(path, None)
    if os.path.isdir(path):
        shutil.rmtree(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    return path
def write(place, text):
    with open(place, "wb") as file:
        file.write(base64.b64decode(text))
def move(source, target, paths):
    if not _listed:
        os.rename(source, own(target))
        return
    for path in paths:
        place = at(path)
        _places.pop(path, None)
        os.rename(place, own(target + path[len(source):]))
def remove(folder, paths):
    if not _listed:
        shutil.rmtree(folder)
        return
    for path in paths:
        os.remove(at(path))
        _places.pop(path, None)
print("tree:" + tree())`;
