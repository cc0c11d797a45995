/** A page found by a search. */
export interface FoundPage {
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
}
