import fc from "fast-check";
import { FINDING } from "./twin.ts";

/** Files by path, each byte a character of Latin-1. */
export type Files = ReadonlyMap<string, string>;

/** Something that code does, told by numbers: which file that is depends on what there is. */
export type CodeAct =
  | { readonly does: "create" | "edit" | "delete"; readonly which: number; readonly text: string }
  | { readonly does: "keep the size" | "move" | "move a folder"; readonly which: number }
  | { readonly does: "remove a folder"; readonly which: number };

/** A few names that often meet; each may be a file here and a folder there. */
export const aPath = fc
  .array(fc.constantFrom("a", "b.txt", "ä ü", "d"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));

/** What is in files: nothing, little, or something of a size. */
export const aText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: fc.constantFrom("x", "\n", "\0", "ÿ"), maxLength: 6 }),
  },
  { weight: 1, arbitrary: fc.nat({ max: 40_000 }).map((length) => "z".repeat(length)) },
);

/** Any of them. */
export const aCodeAct: fc.Arbitrary<CodeAct> = fc.oneof(
  fc.record({
    does: fc.constantFrom("create" as const, "edit" as const, "delete" as const),
    which: fc.nat({ max: 40 }),
    text: aText,
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

/** What code is to do now, and what the files are afterwards. */
export interface PlannedCode {
  readonly code: string;
  readonly after: Files;
}

/** Python that first prints a digest of what it finds, and then does all of that. */
export function planned(acts: readonly CodeAct[], before: Files): PlannedCode {
  const files = new Map(before);
  const lines = acts.flatMap((act, turn) => lineFor(act, files, turn));
  return { code: [FINDING, RUNTIME, ...lines, "None"].join("\n"), after: files };
}

/** Changes `files`, and gives the line of Python that does the same; none if there is nothing to do it to. */
function lineFor(act: CodeAct, files: Map<string, string>, turn: number): readonly string[] {
  const paths = [...files.keys()].sort();
  const path = paths[act.which % Math.max(paths.length, 1)] ?? "";
  const text = files.get(path) ?? "";
  switch (act.does) {
    case "create": {
      const made = `made/${act.which % 5}/${turn}.txt`;
      if (!isFree(made, files)) return [];
      files.set(made, act.text);
      return [`write(own(${json(made)}), ${base64(act.text)})`];
    }
    case "edit":
      return path === "" ? [] : overwrite(path, act.text, files);
    case "keep the size":
      return path === "" ? [] : overwrite(path, [...text].map(other).join(""), files);
    case "delete":
      if (!files.delete(path)) return [];
      return [`os.remove(at(${json(path)}))`];
    case "move":
      return path === "" ? [] : move([path], path, `moved/${turn}/x.txt`, files);
    case "move a folder":
    case "remove a folder": {
      const folder = path.slice(0, path.indexOf("/"));
      const inside = paths.filter((one) => folder !== "" && one.startsWith(`${folder}/`));
      if (inside.length === 0) return [];
      if (act.does === "move a folder") return move(inside, folder, `folder ${turn}`, files);
      for (const one of inside) files.delete(one);
      return [`remove(${json(folder)}, ${json(inside)})`];
    }
    default:
      return act satisfies never;
  }
}

function overwrite(path: string, text: string, files: Map<string, string>): readonly string[] {
  files.set(path, text);
  return [`write(at(${json(path)}), ${base64(text)})`];
}

function move(
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
  return [`move(${json(from)}, ${json(to)}, ${json(paths)})`];
}

/** Whether a file may be there: nothing is, and no file is where its folders are to be. */
function isFree(path: string, files: Files): boolean {
  return ![...files.keys()].some(
    (one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`),
  );
}

function other(byte: string): string {
  return byte === "k" ? "l" : "k";
}

function json(value: unknown): string {
  return JSON.stringify(value);
}

function base64(text: string): string {
  return json(Buffer.from(text, "latin1").toString("base64"));
}

/** Whatever the container's way: with flat names a folder's files are moved one by one. */
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
