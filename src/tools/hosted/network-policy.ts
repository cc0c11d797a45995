import { PromptValidationError } from "../../base/errors.ts";
import {
  checkKeys,
  checkObjectUnquoted,
  checkText,
  checkType,
  elsewhere,
  listOf,
  optional,
} from "../config-checks.ts";
import { checkHostName } from "./host-name.ts";

/** What a container may reach. */
export type NetworkPolicy = NetworkDisabled | NetworkAllowlist;

export interface NetworkDisabled {
  readonly type: "disabled";
}

/** Reaches these hosts and no others. */
export interface NetworkAllowlist {
  readonly type: "allowlist";
  /** Bare host names, at least one. */
  readonly allowedDomains: readonly string[];
  readonly domainSecrets?: readonly DomainSecret[] | undefined;
}

/** Put into requests to one host, and hidden from the code that makes them. */
export interface DomainSecret {
  readonly domain: string;
  readonly name: string;
  readonly value: string;
}

/** Refuses what is no `NetworkPolicy`, and quotes no secret. */
export function checkNetworkPolicy(policy: unknown, field: string): void {
  checkObjectUnquoted(policy, field);
  if (checkType(policy, field, ["disabled", "allowlist"]) === "disabled") {
    checkKeys<NetworkDisabled>(policy, field, { type: elsewhere });
    return;
  }
  checkKeys<NetworkAllowlist>(policy, field, {
    type: elsewhere,
    allowedDomains: listOf(checkHostName, { least: 1 }),
    domainSecrets: optional(listOf(checkDomainSecret, { secret: true })),
  });
}

function checkDomainSecret(secret: unknown, field: string): void {
  checkObjectUnquoted(secret, field);
  checkKeys<DomainSecret>(secret, field, {
    domain: checkHostName,
    name: checkText,
    value: checkSecret,
  });
}

function checkSecret(value: unknown, field: string): void {
  if (typeof value === "string" && value !== "") return;
  const rule = "must be a text that is not empty";
  throw new PromptValidationError({ field, value, rule, remedy: "give the secret", secret: true });
}
