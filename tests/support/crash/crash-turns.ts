/** One turn of the model in a crash test: the names of the tools that it calls, or its answer. */
export type CrashTurn = { readonly calls: readonly CrashCall[] } | { readonly text: string };

/** A call of the model. Its id is the same in every process. */
export interface CrashCall {
  readonly name: string;
  readonly callId: string;
}

/** The model's turns in every crash test, on every adapter. */
export const crashTurns: readonly CrashTurn[] = [
  createCalls("charge", "note"),
  createCalls("ship", "ship"),
  createCalls("look", "book"),
  { text: '{"total":5}' },
];

function createCalls(...names: readonly string[]): CrashTurn {
  return { calls: names.map((name, index) => ({ name, callId: `call_${name}_${index + 1}` })) };
}
