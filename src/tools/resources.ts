import { checkKnownKeys, InvalidOptionError, WinkError } from "../base/errors.ts";

/**
 * Identifies a resource of type `T`. Keys are compared by identity, so two keys with one name are
 * different resources.
 */
export interface ResourceKey<T = unknown> {
  /** Name used in error messages. */
  readonly name: string;
  /** Carries the type only; never set at run time. */
  readonly "~resource"?: T;
}

/**
 * Creates a resource key: `const database = resource<Database>("database")`. Declare it once, next
 * to the type.
 */
export function resource<T>(name: string): ResourceKey<T> {
  if (typeof name === "string" && name.trim() !== "") return Object.freeze({ name });
  const rule = "must be a non-blank string";
  throw new InvalidOptionError({
    field: "resource(name)",
    value: name,
    rule,
    remedy: 'use one such as resource<Database>("database")',
  });
}

/** The resources that tool handlers can access. */
export interface Resources {
  /** Returns the resource. Throws `UnboundResourceError` if no registry binds the key. */
  get<T>(key: ResourceKey<T>): T;
  /** Returns the resource, or `null` if no registry binds the key. */
  find<T>(key: ResourceKey<T>): T | null;
}

/** Thrown when a handler requests a resource that no registry binds. */
export class UnboundResourceError extends WinkError {
  override readonly name = "UnboundResourceError";
  /** Name of the missing resource. */
  readonly resourceName: string;

  constructor(resourceName: string) {
    super(`No resource is bound as "${resourceName}". Add it with registry.bind(key, value).`);
    this.resourceName = resourceName;
  }
}

/** `"singleton"`: one instance per evaluation; `"tool"`: a new instance for each tool call. */
export type ResourceScope = "singleton" | "tool";

/** A value that the caller owns and closes, or a factory whose instances the evaluation closes. */
export type Binding =
  | { readonly owner: "caller"; readonly value: unknown }
  | { readonly owner: "evaluation"; readonly scope: ResourceScope; readonly create: () => unknown };

/**
 * Binds resources to keys: `new ResourceRegistry().bind(database, () => connect(url))`.
 *
 * @example
 * ```ts
 * import { ResourceRegistry, resource } from "weakincentives";
 *
 * class Database {
 *   async query(sql: string): Promise<readonly unknown[]> {
 *     return [sql];
 *   }
 *   async [Symbol.asyncDispose](): Promise<void> {}
 * }
 * const database = resource<Database>("database");
 * // Created on first use and disposed of after the evaluation.
 * const resources = new ResourceRegistry().bind(database, () => new Database());
 * ```
 */
export class ResourceRegistry {
  readonly #bindings = new Map<ResourceKey, Binding>();

  /**
   * Binds a value or a factory to a key. A factory runs on first use, and its instance is closed,
   * if disposable, after the evaluation, or after the tool call for scope `"tool"`. A value that is
   * passed directly is never closed. Throws `InvalidOptionError` if the key is already bound.
   */
  bind<T>(
    key: ResourceKey<T>,
    value: NoInfer<T> | (() => NoInfer<T>),
    options: { readonly scope?: ResourceScope | undefined } = {},
  ): this {
    checkKnownKeys(options, "ResourceRegistry.bind(options)", { scope: true });
    const { scope = "singleton" } = options;
    this.#check(key, value, scope);
    this.#bindings.set(
      key,
      typeof value === "function"
        ? { owner: "evaluation", scope, create: value as () => unknown }
        : { owner: "caller", value },
    );
    return this;
  }

  /** All bindings, by key. */
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
        remedy: 'create one with resource<T>("name")',
      });
    }
    const field = `bind("${key.name}")`;
    if (this.#bindings.has(key)) {
      const rule = "must be bound only once";
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
        remedy: "omit it for one instance per evaluation",
      });
    }
    if (scope === "tool" && typeof value !== "function") {
      const rule = 'must be a function for scope "tool"';
      throw new InvalidOptionError({
        field,
        value,
        rule,
        remedy: "pass a function that creates an instance for each call",
      });
    }
  }
}
