/** Options of {@link starExpression}. */
export interface StarExpressionOptions {
  /** The expression for a single character that a star matches. */
  readonly any: string;
  /** Flags of the expression. */
  readonly flags: string;
}

/**
 * Creates an expression for a whole text from the expressions before, between and after stars. It does not
 * backtrack: after a star, each part matches only at the first place where it fits.
 */
export function starExpression(
  parts: readonly string[],
  { any, flags }: StarExpressionOptions,
): RegExp {
  const [first = "", ...others] = parts;
  const last = others.pop();
  const middle = others.map((part, n) => `(?=(?<at${n}>${any}*?${part}))\\k<at${n}>`).join("");
  return new RegExp(last === undefined ? `^${first}$` : `^${first}${middle}${any}*${last}$`, flags);
}

/** Escapes a text for use in an expression, also within a set. */
export function escapeExpression(text: string): string {
  return text.replace(/[-\\^$.*+?()[\]{}|/]/g, (character) =>
    character === "-" ? "\\x2d" : `\\${character}`,
  );
}
