/**
 * Extracts the search terms of a query: unique, in lower case, at most 64. English stop words are
 * dropped if other words remain. Text in scripts without spaces between words (Chinese, Japanese, Thai, …)
 * yields pairs of characters.
 */
export function extractTerms(query: string): readonly string[] {
  const all = new Set<string>();
  for (const [word] of query.slice(0, MAX_QUERY_LENGTH).matchAll(wordPattern)) {
    for (const term of unspaced.test(word) ? toCharacterPairs(word) : [word.toLowerCase()])
      all.add(term);
  }
  const specific = [...all].filter((term) => !stopWords.has(term));
  return (specific.length > 0 ? specific : [...all]).slice(0, MAX_TERMS);
}

/** Builds an FTS5 expression that matches any of the terms; `null` if there are none. Terms must consist of letters and digits. */
export function toMatchExpression(terms: readonly string[]): string | null {
  return terms.length === 0 ? null : terms.map((term) => `"${term}"`).join(" OR ");
}

/** Prepares text for the index: separates the characters of scripts without spaces, so that pairs match. */
export function toIndexableText(text: string): string {
  return unspaced.test(text) ? text.replaceAll(unspacedCharacter, " $& ") : text;
}

const MAX_QUERY_LENGTH = 100_000;
const MAX_TERMS = 64;

/** Matches words as FTS5's unicode61 tokenizer does. */
const wordPattern = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu;

const scripts = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
const unspacedClass = `[${scripts.map((name) => `\\p{Script=${name}}`).join("")}]`;
const unspaced = new RegExp(unspacedClass, "u");
const unspacedCharacter = new RegExp(`${unspacedClass}\\p{M}*`, "gu");

function toCharacterPairs(word: string): readonly string[] {
  const characters = toIndexableText(word).trim().toLowerCase().split(/ +/);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]} ${character}`);
}

const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and are as at be by can could did do does for from had has have how i if in into is it its me my " +
    "of on or our s shall should so t than that the their them then there these they this to us was we " +
    "were what when where which who whose why will with would you your"
  ).split(" "),
);
