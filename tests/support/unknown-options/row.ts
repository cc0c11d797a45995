import * as weakincentives from "weakincentives";
import { type Prompt, PromptTemplate, type ProviderAdapter, Session } from "weakincentives";

/** An object that takes options: its name in errors, a misspelled key, the key that was meant, and a use. */
export type Row = readonly [
  owner: string,
  misspelled: string,
  intended: string,
  use: (unknown: never) => unknown,
];

/** A session for objects that need one. */
export const session = new Session();

/** A template with one section. */
export const template = new PromptTemplate({
  ns: "demo",
  key: "k",
  sections: [new weakincentives.MarkdownSection({ key: "s", title: "S", template: "T" })],
});

/** A prompt without params. */
export const prompt: Prompt<string> = new weakincentives.Prompt(template);

/** A signal that is already aborted, so that no request is sent. */
export const aborted = AbortSignal.abort(new Error("no request"));

/** Evaluates the prompt without sending a request. */
export async function evaluateUntilAborted(
  target: ProviderAdapter,
  options: object,
): Promise<void> {
  await ignoreAbort(target.evaluate(prompt, { session, signal: aborted, ...options }));
}

/** Waits for work that the aborted signal ends. */
export async function ignoreAbort(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (error !== aborted.reason) throw error;
  });
}
