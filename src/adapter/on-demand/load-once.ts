/** Something that is loaded when it is first used. */
export interface OnDemand<Value> {
  /** The value; `null` until it is loaded. */
  readonly value: Value | null;
  /** Loads the value once. After a failure, the next call loads again. */
  load(): Promise<Value>;
}

/** Calls `load` for the first caller, and shares its promise with the others. */
export function loadOnce<Value>(load: () => Promise<Value>): OnDemand<Value> {
  let value: Value | null = null;
  let loading: Promise<Value> | null = null;
  const loadValue = async () => {
    try {
      value = await load();
      return value;
    } catch (error) {
      loading = null;
      throw error;
    }
  };
  return {
    get value() {
      return value;
    },
    load() {
      loading ??= loadValue();
      return loading;
    },
  };
}
