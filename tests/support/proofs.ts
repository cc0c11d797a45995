/** A claim that a page of `docs/` makes, and the tests that the page names as its proof. */
export interface Claim {
  /** The beginning of each problem report about the claim. */
  readonly label: string;
  /** The text on the page: `` `path/to/file.test.ts` › title ``, with `<br>` between two. */
  readonly proof: string;
}

/** Returns the text of a file of the repository, or null if the file does not exist. */
export type ReadSource = (path: string) => string | null;

/** One test that a claim names as its proof. */
interface ProofItem {
  readonly file: string;
  readonly title: string;
}

/** Reports proofs that are malformed, name a missing file, or name a missing test. */
export function findClaimProblems(claims: readonly Claim[], readSource: ReadSource): string[] {
  const titles = new Map<string, ReadonlySet<string> | null>();
  const readTitles = (file: string) => {
    const known = titles.get(file);
    if (known !== undefined) return known;
    const source = readSource(file);
    const found = source === null ? null : findTestTitles(source);
    titles.set(file, found);
    return found;
  };
  return claims.flatMap((claim) => findProblems(claim, readTitles));
}

/** The files that a proof names. Malformed parts are skipped: `findClaimProblems` reports them. */
export function findProofFiles(proof: string): string[] {
  return proof.split("<br>").flatMap((written) => parseProofItem(written.trim())?.file ?? []);
}

/**
 * The titles of the tests and groups that a test file runs, as written there, unescaped, and the
 * `tries` of its attacks. Tests declared by `test.skip` or `test.todo` prove nothing and are skipped.
 */
export function findTestTitles(source: string): Set<string> {
  const code = source.replace(/^\s*\/\/.*$/gm, "");
  const call =
    /(?:\b(?:test|it|describe)((?:\.\w+)*)|\))\s*\(\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/gs;
  const titles = new Set<string>();
  for (const [, modifiers = "", literal = ""] of code.matchAll(call)) {
    if (!/\.(?:skip|todo)\b/.test(modifiers)) titles.add(unescapeLiteral(literal.slice(1, -1)));
  }
  const attack = /\btries:\s*("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;
  for (const [, literal = ""] of code.matchAll(attack)) {
    titles.add(unescapeLiteral(literal.slice(1, -1)));
  }
  return titles;
}

/** The cells of one line of a Markdown table, bars unescaped. */
export function splitCells(line: string): string[] {
  return line
    .slice(1)
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function findProblems(
  { label, proof }: Claim,
  readTitles: (file: string) => ReadonlySet<string> | null,
): string[] {
  return proof.split("<br>").flatMap((written) => {
    const item = parseProofItem(written.trim());
    if (item === null) {
      return [`${label}: "${written.trim()}" is not a proof. Use \`path/to/file.test.ts\` › title`];
    }
    const titles = readTitles(item.file);
    if (titles === null) return [`${label}: there is no file ${item.file}`];
    return titles.has(item.title)
      ? []
      : [`${label}: ${item.file} has no test titled "${item.title}"`];
  });
}

function parseProofItem(written: string): ProofItem | null {
  const match = /^`((?!\/)[^`]+\.test(?:-d)?\.ts)` › (\S.*)$/.exec(written);
  const [, file = "", title = ""] = match ?? [];
  return match === null || file.split("/").includes("..") ? null : { file, title };
}

function unescapeLiteral(body: string): string {
  const named = new Map([
    ["n", "\n"],
    ["t", "\t"],
    ["r", "\r"],
  ]);
  return body.replace(
    /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2})|(.))/gis,
    (_, braced?: string, unit?: string, byte?: string, single = "") => {
      const code = braced ?? unit ?? byte;
      return code === undefined
        ? (named.get(single) ?? single)
        : String.fromCodePoint(Number.parseInt(code, 16));
    },
  );
}
