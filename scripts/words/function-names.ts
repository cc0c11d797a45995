import type { DeclaredFunction } from "./declared-functions.ts";

/** Functions that may begin with a participle, and why. */
export const PARTICIPLE_EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["enabled", "public: the option of a section that decides whether it is shown"],
  ["delegatedCalls", "public: a codec's counterpart of Turn.delegatedCalls"],
  ["hostedOutputs", "public: ModelClient's counterpart of PromptResponse.hostedOutputs"],
  ["hostedTools", "public: named by the specifications"],
  ["recordingBus", "public: a factory named after its result"],
  ["remainingMs", "public: named by the specifications"],
  ["sandboxedShell", "public: a factory named after its result"],
  ["scriptedClient", "public: a factory named after its result"],
  ["scriptedModel", "public: a factory named after its result"],
  ["scriptedSubject", "public: a factory named after its result"],
  ["warning", "public: a codec's warning about a config"],
]);

/** The functions whose name begins with a participle, such as `checked` or `renderedText`. */
export function findParticiples(
  functions: readonly DeclaredFunction[],
): readonly DeclaredFunction[] {
  return functions.filter(
    ({ name }) => isParticiple(getFirstWord(name)) && !PARTICIPLE_EXCEPTIONS.has(name),
  );
}

/** The exceptions that no function needs any longer. */
export function findIdleParticiples(functions: readonly DeclaredFunction[]): readonly string[] {
  const names = new Set(functions.map(({ name }) => name));
  return [...PARTICIPLE_EXCEPTIONS.keys()].filter((name) => !names.has(name));
}

/** The functions whose name ends in `Of`, such as `textOf`. */
export function findOfNames(functions: readonly DeclaredFunction[]): readonly DeclaredFunction[] {
  return functions.filter(({ name }) => /[a-z0-9]Of$/.test(name));
}

/** The names of functions (not methods) that are declared in more than `limit` files. */
export function findRepeatedNames(
  functions: readonly DeclaredFunction[],
  limit: number,
): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, Set<string>>();
  for (const { name, file, isMethod } of functions) {
    if (isMethod) continue;
    files.set(name, (files.get(name) ?? new Set()).add(file));
  }
  const repeated = [...files].filter(([, declaredIn]) => declaredIn.size > limit);
  return new Map(repeated.map(([name, declaredIn]) => [name, [...declaredIn]]));
}

/** True for a past or present participle that is not also the plain form of a verb, as `read` and `set` are. */
export function isParticiple(word: string): boolean {
  if (IRREGULAR.has(word)) return true;
  return /[a-z]{2}(?:ed|ing)$/.test(word) && !NO_PARTICIPLES.has(word);
}

function getFirstWord(name: string): string {
  return /^[a-z]+/.exec(name)?.[0] ?? "";
}

/** Participles that do not end in `ed` or `ing`. Participles that equal the verb's plain form are missing on purpose. */
const IRREGULAR = new Set(
  `been begun bound bought broken brought built caught chosen done drawn driven fallen felt fitting
  forbidden forgotten found frozen given gone grown had heard held hidden kept known laid led left lent
  lost made meant met mistaken overridden overtaken paid proven risen said seen sent shown sold spent
  spoken stolen stood stuck swollen taken taught thought thrown told torn understood undone woken won
  worn woven written`.split(/\s+/),
);

/** Words that end in `ed` or `ing` but are not participles. */
const NO_PARTICIPLES = new Set(
  `anything bring embed exceed feed green heading need nothing ping proceed reasoning red seed shed sibling
  speed spring sting string succeed`.split(/\s+/),
);
