/**
 * Freezes every object that is reachable from `globals` through own properties and prototypes, except `globals`
 * itself, whose properties become constant. No code can then change the behavior of this process: no
 * accessor on `Object.prototype`, no replaced method of `Array`.
 */
export function freezeIntrinsics(globals: object): void {
  const frozen = new Set<unknown>([globals]);
  const waiting: unknown[] = listValues(globals);
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (!isObject(value) || frozen.has(value)) continue;
    frozen.add(value);
    waiting.push(...listValues(value));
    // The elements of a typed array cannot be frozen; none is an intrinsic.
    if (!ArrayBuffer.isView(value)) Object.freeze(value);
  }
  for (const [name, { configurable, value }] of Object.entries(
    Object.getOwnPropertyDescriptors(globals),
  )) {
    if (configurable && value !== undefined)
      Object.defineProperty(globals, name, { configurable: false, writable: false });
  }
}

function listValues(object: object): unknown[] {
  const values: unknown[] = [Object.getPrototypeOf(object)];
  for (const { value, get, set } of Object.values(Object.getOwnPropertyDescriptors(object)))
    values.push(value, get, set);
  for (const symbol of Object.getOwnPropertySymbols(object)) {
    const { value, get, set } = Object.getOwnPropertyDescriptor(object, symbol) ?? {};
    values.push(value, get, set);
  }
  return values;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
