/**
 * Returns whether `value` is an object literal, which can be copied and frozen, unlike a class
 * instance.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Freezes plain data recursively. Schemas, functions and class instances are not frozen. */
export function deepFreeze<T>(value: T): T {
  if (!isData(value)) return value;
  Object.freeze(value);
  if (freezeTree(value, MAX_TREE_PARTS, 0) < 0) freezeGraph(value);
  return value;
}

/** Most data is a tree with fewer parts and levels. */
const MAX_TREE_PARTS = 10_000;
const MAX_TREE_DEPTH = 100;

/**
 * Freezes the parts of `whole` without allocating anything. Returns how many more parts may follow; fewer than none if
 * `whole` has too many parts or levels, also because it contains itself.
 */
function freezeTree(whole: object, left: number, depth: number): number {
  if (depth === MAX_TREE_DEPTH) return -1;
  let rest = left;
  if (Array.isArray(whole)) {
    for (let index = 0; index < whole.length && rest >= 0; index++) {
      rest = freezePart(whole[index], rest, depth);
    }
    return rest;
  }
  const parts = whole as Readonly<Record<string, unknown>>;
  for (const key in parts) if (rest >= 0) rest = freezePart(parts[key], rest, depth);
  return rest;
}

function freezePart(part: unknown, left: number, depth: number): number {
  if (typeof part !== "object" || !isData(part)) return left;
  if (!Object.isFrozen(part)) Object.freeze(part); // a frozen object may contain unfrozen ones
  return freezeTree(part, left - 1, depth + 1);
}

/** Freezes data of any size and depth, also if it contains itself. */
function freezeGraph(value: object): void {
  const seen = new Set<object>([value]); // Iterating a Set includes values added during the loop.
  for (const whole of seen) {
    for (const part of Object.values(whole)) {
      if (isData(part)) seen.add(Object.freeze(part));
    }
  }
}

/** Freezes the parts of `next` that are not in `before`. Shared parts are already frozen. */
export function freezeChanged<T>(next: T, before: unknown): T {
  if (next === before || !isData(next) || Object.isFrozen(next)) return next;
  Object.freeze(next);
  if (Array.isArray(next)) {
    const old: readonly unknown[] = Array.isArray(before) ? before : [];
    for (let index = 0; index < next.length; index++) {
      if (next[index] !== old[index]) freezeChanged(next[index], old[index]);
    }
  } else {
    const old = isPlainObject(before) ? before : {};
    for (const [key, part] of Object.entries(next)) freezeChanged(part, old[key]);
  }
  return next;
}

/**
 * Returns a frozen deep copy of plain data. Schemas, functions and class instances are kept by
 * reference.
 */
export function copyAndFreeze<T>(value: T): T;
export function copyAndFreeze(value: unknown): unknown {
  if (!isData(value)) return value;
  const copies = new Map<object, object>(); // Iterating a Map includes entries added during the loop.
  const copy = getOrCreateCopy(value, copies);
  for (const [from, to] of copies) fillCopy(to, from, copies);
  for (const created of copies.values()) Object.freeze(created);
  return copy;
}

/**
 * Returns the copy of `value`, still empty if `value` is new. Filling it later avoids recursion.
 */
function getOrCreateCopy(value: unknown, copies: Map<object, object>): unknown {
  if (!isData(value)) return value;
  const copy = copies.get(value) ?? (Array.isArray(value) ? [] : {});
  copies.set(value, copy);
  return copy;
}

function fillCopy(to: object, from: object, copies: Map<object, object>): void {
  if (Array.isArray(from) && Array.isArray(to)) {
    for (const item of from) to.push(getOrCreateCopy(item, copies));
    return;
  }
  for (const [name, field] of Object.entries(from)) {
    // Defined, not assigned: a field named __proto__ must be copied as ordinary data.
    const part = { value: getOrCreateCopy(field, copies), enumerable: true, writable: true };
    Object.defineProperty(to, name, part);
  }
}

/** Adds a field whose value is computed when it is first read. Returns the object. */
export type AddLazyField<Value> = <Target extends object>(
  target: Target,
  compute: () => Value,
) => Target;

/**
 * Returns a function that adds the enumerable field `name` to an object. All objects share one getter: with a getter of
 * its own, each object would have its own hidden class, and the engine would keep that class, and everything that the
 * getter refers to, until a full garbage collection.
 */
export function createLazyField<Value>(name: string): AddLazyField<Value> {
  const slot = Symbol(name);
  const property = {
    enumerable: true,
    get(this: { readonly [slot]: { compute: () => Value } }): Value {
      const lazy = this[slot];
      const value = lazy.compute();
      lazy.compute = () => value; // releases the values that it was computed from
      return value;
    },
  };
  return (target, compute) => {
    Object.defineProperty(target, slot, { value: { compute } });
    return Object.defineProperty(target, name, property);
  };
}

function isData(value: unknown): value is object {
  return Array.isArray(value) || isPlainObject(value);
}
