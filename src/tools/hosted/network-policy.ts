import { PromptValidationError } from "../../base/errors.ts";
import {
  arrayCheck,
  checkKeys,
  checkObjectUnquoted,
  checkSingleLine,
  checkType,
  deferCheck,
  optional,
} from "../config-checks.ts";
import { checkHostName } from "./host-name.ts";

/** Network access of a container. */
export type NetworkPolicy = NetworkDisabled | NetworkAllowlist;

/** Blocks all network access. */
export interface NetworkDisabled {
  /** Identifies a policy without network. */
  readonly type: "disabled";
}

/** Allows requests to the listed hosts only. */
export interface NetworkAllowlist {
  /** Identifies a policy with a list of hosts. */
  readonly type: "allowlist";
  /** Bare host names, at least one. */
  readonly allowedDomains: readonly string[];
  /** Secrets for requests to the allowed hosts. */
  readonly domainSecrets?: readonly DomainSecret[] | undefined;
}

/**
 * A secret that the provider inserts into requests to one host. Code in the container cannot read
 * it.
 */
export interface DomainSecret {
  /** Host that receives the secret. */
  readonly domain: string;
  /** Name by which requests refer to the secret. */
  readonly name: string;
  /** The secret itself; never quoted in errors. */
  readonly value: string;
}

/** Accepts only a `NetworkPolicy`. Errors do not quote secrets. */
export function checkNetworkPolicy(policy: unknown, field: string): void {
  checkObjectUnquoted(policy, field);
  if (checkType(policy, field, ["disabled", "allowlist"]) === "disabled") {
    checkKeys<NetworkDisabled>(policy, field, { type: deferCheck });
    return;
  }
  checkKeys<NetworkAllowlist>(policy, field, {
    type: deferCheck,
    allowedDomains: arrayCheck(checkHostName, { least: 1 }),
    domainSecrets: optional(arrayCheck(checkDomainSecret, { secret: true })),
  });
}

function checkDomainSecret(secret: unknown, field: string): void {
  checkObjectUnquoted(secret, field);
  checkKeys<DomainSecret>(secret, field, {
    domain: checkHostName,
    name: checkSingleLine,
    value: checkSecret,
  });
}

function checkSecret(value: unknown, field: string): void {
  if (typeof value === "string" && value !== "") return;
  const rule = "must be a non-empty string";
  throw new PromptValidationError({ field, value, rule, remedy: "pass the secret", secret: true });
}
