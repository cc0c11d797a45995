/** An upstream model's answer, independent of the API. */
export interface UpstreamAnswer {
  readonly thought: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly UpstreamCall[];
}

/** An upstream model's function call. */
export interface UpstreamCall {
  readonly name: string;
  /** The arguments as the model wrote them. A string should be JSON. */
  readonly args: unknown;
}
