export type Validation<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly problem: string };
