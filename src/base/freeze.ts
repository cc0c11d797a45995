/** Whether `value` is an object literal: data that may be copied and frozen, unlike an instance. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Freezes plain data all the way down; schemas, functions and instances keep their own state. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value]; // a stack of our own: data from outside may be nested deeply
  const seen = new Set<unknown>(); // not `isFrozen`: what is frozen may hold what is not
  while (open.length > 0) {
    const part = open.pop();
    if (!isData(part) || seen.has(part)) continue;
    seen.add(Object.freeze(part));
    for (const inner of Object.values(part)) open.push(inner);
  }
  return value;
}

/** Freezes what `next` has and `before` had not: what both share was frozen then. */
export function freezeChanged<T>(next: T, before: unknown): T {
  if (next === before || !isData(next) || Object.isFrozen(next)) return next;
  Object.freeze(next);
  if (Array.isArray(next)) {
    const old: readonly unknown[] = Array.isArray(before) ? before : [];
    for (let index = 0; index < next.length; index++) freezeChanged(next[index], old[index]);
  } else {
    const old = isPlainObject(before) ? before : {};
    for (const [key, part] of Object.entries(next)) freezeChanged(part, old[key]);
  }
  return next;
}

/** A frozen copy of plain data; schemas, functions and instances within it stay what they are. */
export function frozenCopy<T>(value: T): T;
export function frozenCopy(value: unknown): unknown {
  const copies = new Map<object, object>(); // a map runs over what is added meanwhile
  const copy = copyOf(value, copies);
  for (const [from, to] of copies) fill(to, from, copies);
  for (const made of copies.values()) Object.freeze(made);
  return copy;
}

/** The copy of `value`, empty if it is met for the first time: nothing here recurses. */
function copyOf(value: unknown, copies: Map<object, object>): unknown {
  if (!isData(value)) return value;
  const copy = copies.get(value) ?? (Array.isArray(value) ? [] : {});
  copies.set(value, copy);
  return copy;
}

function fill(to: object, from: object, copies: Map<object, object>): void {
  if (Array.isArray(from) && Array.isArray(to)) {
    for (const item of from) to.push(copyOf(item, copies));
    return;
  }
  for (const [name, field] of Object.entries(from)) {
    // Defined, not assigned: a field called __proto__ is data like any other.
    const part = { value: copyOf(field, copies), enumerable: true, writable: true };
    Object.defineProperty(to, name, part);
  }
}

function isData(value: unknown): value is object {
  return Array.isArray(value) || isPlainObject(value);
}
