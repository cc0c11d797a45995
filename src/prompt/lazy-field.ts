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
      lazy.compute = () => value; // lets go of what it was computed from
      return value;
    },
  };
  return (target, compute) => {
    Object.defineProperty(target, slot, { value: { compute } });
    return Object.defineProperty(target, name, property);
  };
}
