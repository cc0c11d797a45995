import { type DefaultTreeAdapterMap, InsertionMode, Parser, Token } from "parse5";

/** The deepest nesting that is tracked. Chrome flattens its tree at 512. */
const MAX_DEPTH = 2_000;
/** How many words and spaces directly in a table are buffered until the next tag. */
const MAX_PENDING = 1_000;

/**
 * The HTML parser of parse5 with bounded state, so that hostile pages can neither slow it down nor
 * exhaust memory. It differs from the HTML standard in ways that preserve a page's words:
 *
 * - Formatting elements such as `<b>` are not reopened after a block has closed them. By the standard,
 *   n of them followed by m paragraphs create n × m elements.
 * - An element nested more than 2,000 deep closes all elements around it.
 * - A long text directly in a table is processed in parts.
 */
export class BoundedParser extends Parser<DefaultTreeAdapterMap> {
  override onStartTag(token: Token.TagToken): void {
    super.onStartTag(token);
    this.activeFormattingElements.clearToLastMarker();
    const isText = this.insertionMode === InsertionMode.TEXT;
    if (this.openElements.depth > MAX_DEPTH && !isText) this.#closeAll();
  }

  override onCharacter(token: Token.CharacterToken): void {
    super.onCharacter(token);
    this.#limitPendingText();
  }

  override onWhitespaceCharacter(token: Token.CharacterToken): void {
    super.onWhitespaceCharacter(token);
    this.#limitPendingText();
  }

  /** Inserts an empty comment, which makes the parser process the text it buffers inside a table. */
  #limitPendingText(): void {
    if (this.insertionMode !== InsertionMode.IN_TABLE_TEXT) return;
    if (this.pendingCharacterTokens.length < MAX_PENDING) return;
    this.onComment({ type: Token.TokenType.COMMENT, data: "", location: null });
  }

  /** Continues as after a complete `head`: the next content opens a new body. */
  #closeAll(): void {
    this.openElements.popAllUpToHtmlElement();
    this.tmplInsertionModeStack = [];
    this.formElement = null;
    this.insertionMode = InsertionMode.AFTER_HEAD;
  }
}
