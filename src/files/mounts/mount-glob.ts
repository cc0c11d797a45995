import { expandPattern, pathExpression } from "../filesystem/glob.ts";

/** A glob of `includeGlob` or `excludeGlob`. */
export interface MountGlob {
  /** The glob as the user wrote it. */
  readonly pattern: string;
  /** Whether the glob matches the path of an entry within the mount. Everything below a matched folder matches too. */
  matches(path: string, isFolder: boolean): boolean;
  /** Whether the glob, like `folder/*`, matches everything below a folder. */
  matchesContents(folder: string): boolean;
}

/**
 * Parses a glob of a mount. Without a slash inside, it is the name of a file or folder at any depth; otherwise
 * it is a path from the root of the mount. A slash at the end restricts it to folders. `*` and `?` also match
 * slashes, `**` matches zero or more folders, and `{a,b}` matches either text. Throws `FilesystemError`.
 */
export function mountGlob(pattern: string): MountGlob {
  const forms = expandPattern(pattern).map(parseForm);
  const whole = forms.filter(({ endsWithStar }) => endsWithStar);
  return {
    pattern,
    matches: (path, isFolder) =>
      forms.some(
        ({ isFolderOnly, expression }) => (isFolder || !isFolderOnly) && expression.test(path),
      ),
    matchesContents: (folder) => whole.some(({ expression }) => expression.test(`${folder}/x`)),
  };
}

/** One alternative of a glob with braces. */
interface GlobForm {
  readonly expression: RegExp;
  readonly isFolderOnly: boolean;
  /** Whether it ends with a slash and stars. A star also matches slashes, so it matches everything below a folder. */
  readonly endsWithStar: boolean;
}

/** Matches sets, which may contain slashes, and steps to the same folder: `//` and `/./`. */
const SET_OR_STEP = /\[(?=(!?\]?))\1[^\]]*\]|\/(?:\.?\/)+/gsu;
const SET_OR_SLASH = /\[(?=(!?\]?))\1[^\]]*\]|\//gsu;

function parseForm(text: string): GlobForm {
  const plain = text.replace(SET_OR_STEP, (found) => (found.startsWith("[") ? found : "/"));
  const path = plain.replace(/^\.?\//, "");
  const body = path.replace(/\/\.?$/, "");
  const isFolderOnly = body !== path;
  // The root of the mount, which contains everything.
  if (body === "." || (body === "" && plain !== "")) {
    return { expression: /^/, isFolderOnly: false, endsWithStar: false };
  }
  const hasSlash = Array.from(body.matchAll(SET_OR_SLASH)).some(([found]) => found === "/");
  const isAnchored = hasSlash || path !== plain;
  const isName = !isAnchored && !body.startsWith("*"); // a star at the start matches any folders too
  return {
    expression: pathExpression(isName ? `**/${body}` : body, "anywhere"),
    isFolderOnly,
    endsWithStar: !isFolderOnly && /\/\*+$/.test(body),
  };
}
