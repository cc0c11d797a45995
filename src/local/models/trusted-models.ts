import type { LocalModel } from "./local-model.ts";

const trusted = new WeakSet<LocalModel>();

/** Marks a model whose code was written by the user of this library, not by a language model. Returns it. */
export function trustModel(model: LocalModel): LocalModel {
  trusted.add(model);
  return model;
}

/** Whether the code that a model runs is the user's own. `undefined` is the default model, the echo. */
export function isTrustedModel(model: LocalModel | undefined): boolean {
  return model === undefined || trusted.has(model);
}
