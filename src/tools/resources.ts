import { InvalidOptionError, WinkError } from "../base/errors.ts";

/** Names a resource of type `T`. Two keys are two resources, even of one name. */
export interface ResourceKey<T = unknown> {
  readonly name: string;
  /** Carries the type; never set. */
  readonly "~resource"?: T;
}

/** `const database = resource<Database>("database")`: write it once, beside the type it names. */
export function resource<T>(name: string): ResourceKey<T> {
  if (typeof name === "string" && name.trim() !== "") return Object.freeze({ name });
  const rule = "must be a name";
  throw new InvalidOptionError({
    field: "resource(name)",
    value: name,
    rule,
    remedy: 'resource<Database>("database")',
  });
}

/** What handlers may reach beyond their params. */
export interface Resources {
  /** Throws `UnboundResourceError` if nothing was bound. */
  get<T>(key: ResourceKey<T>): T;
  find<T>(key: ResourceKey<T>): T | null;
}

/** Nothing was bound under a key that a handler asked for. */
export class UnboundResourceError extends WinkError {
  override readonly name = "UnboundResourceError";
  readonly resourceName: string;

  constructor(resourceName: string) {
    super(`No resource is bound as "${resourceName}": add it with registry.bind(key, value)`);
    this.resourceName = resourceName;
  }
}

/** `"singleton"`: one for an evaluation; `"tool"`: a new one for each call. */
export type ResourceScope = "singleton" | "tool";

/** What was bound to a key: a value its caller made and closes, or a factory of ours to close. */
export type Binding =
  | { readonly made: "by caller"; readonly value: unknown }
  | { readonly made: "here"; readonly scope: ResourceScope; readonly make: () => unknown };

/** Where resources are bound: `new ResourceRegistry().bind(database, () => connect(url))`. */
export class ResourceRegistry {
  readonly #bindings = new Map<ResourceKey, Binding>();

  /**
   * A function is called at the first use. What it gives is closed after the evaluation, or after
   * the call for scope `"tool"`, if it is disposable. A value bound as it is stays the caller's.
   */
  bind<T>(
    key: ResourceKey<T>,
    value: NoInfer<T> | (() => NoInfer<T>),
    { scope = "singleton" }: { readonly scope?: ResourceScope | undefined } = {},
  ): this {
    this.#check(key, value, scope);
    this.#bindings.set(
      key,
      typeof value === "function"
        ? { made: "here", scope, make: value as () => unknown }
        : { made: "by caller", value },
    );
    return this;
  }

  bindings(): ReadonlyMap<ResourceKey, Binding> {
    return this.#bindings;
  }

  #check(key: ResourceKey, value: unknown, scope: ResourceScope): void {
    if (typeof key?.name !== "string") {
      const rule = "must be a resource key";
      throw new InvalidOptionError({
        field: "bind(key)",
        value: key,
        rule,
        remedy: 'make one with resource<T>("name")',
      });
    }
    const field = `bind("${key.name}")`;
    if (this.#bindings.has(key)) {
      const rule = "must be called once for a key";
      throw new InvalidOptionError({
        field,
        value: key.name,
        rule,
        remedy: "bind it in another registry to replace it for one evaluation",
      });
    }
    if (scope !== "singleton" && scope !== "tool") {
      const rule = 'must be "singleton" or "tool"';
      throw new InvalidOptionError({
        field: `${field} scope`,
        value: scope,
        rule,
        remedy: "leave it out for one resource an evaluation",
      });
    }
    if (scope === "tool" && typeof value !== "function") {
      const rule = 'must be a function for scope "tool"';
      throw new InvalidOptionError({
        field,
        value,
        rule,
        remedy: "give a function that makes a new one for each call",
      });
    }
  }
}
