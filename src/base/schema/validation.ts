/** The result of checking external data: a valid value or a description of the problem. */
export type Validation<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly problem: string };
