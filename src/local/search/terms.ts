/**
 * The words that a question asks for, in lower case and each once: at most 64 of them. English words
 * that are in every text are left out where others remain. Text without spaces between its words
 * (Chinese, Japanese, Thai, …) gives pairs of its characters.
 */
export function termsOf(query: string): readonly string[] {
  const all = new Set<string>();
  for (const [word] of query.slice(0, LONGEST_QUERY).matchAll(wordPattern)) {
    for (const term of unspaced.test(word) ? pairs(word) : [word.toLowerCase()]) all.add(term);
  }
  const telling = [...all].filter((term) => !everywhere.has(term));
  return (telling.length > 0 ? telling : [...all]).slice(0, MOST_TERMS);
}

/** Any of the terms, as FTS5 reads it; `null` if there is none. Terms hold letters and digits only. */
export function matchExpression(terms: readonly string[]): string | null {
  return terms.length === 0 ? null : terms.map((term) => `"${term}"`).join(" OR ");
}

/** Text as it is indexed: characters of writing without spaces stand apart, so that pairs are found. */
export function indexable(text: string): string {
  return unspaced.test(text) ? text.replaceAll(unspacedCharacter, " $& ") : text;
}

const LONGEST_QUERY = 100_000;
const MOST_TERMS = 64;

/** What FTS5's unicode61 takes for words. */
const wordPattern = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu;

const scripts = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
const unspacedClass = `[${scripts.map((name) => `\\p{Script=${name}}`).join("")}]`;
const unspaced = new RegExp(unspacedClass, "u");
const unspacedCharacter = new RegExp(`${unspacedClass}\\p{M}*`, "gu");

function pairs(word: string): readonly string[] {
  const characters = indexable(word).trim().toLowerCase().split(/ +/);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]} ${character}`);
}

const everywhere: ReadonlySet<string> = new Set(
  (
    "a an and are as at be by can could did do does for from had has have how i if in into is it its me my " +
    "of on or our s shall should so t than that the their them then there these they this to us was we " +
    "were what when where which who whose why will with would you your"
  ).split(" "),
);
