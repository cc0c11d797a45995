/**
 * The network access of a container's code. The local provider has no network access, so only `"disabled"` is
 * used.
 */
export interface NetworkPolicy {
  readonly type: "disabled" | "allowlist";
  readonly allowed_domains?: readonly string[] | undefined;
}
