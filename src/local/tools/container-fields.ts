import { readRecord } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import {
  array,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
  type Validator,
} from "../validators/validator.ts";
import { type } from "./item-fields.ts";

/** Validates which domains a container's programs may connect to. */
const networkPolicy: Validator = unionByTag({
  disabled: object({ type }),
  allowlist: object(
    { type, allowed_domains: array(string({ min: 1 }), { min: 1 }) },
    { domain_secrets: array(object({ domain: string(), name: string(), value: string() })) },
  ),
});

/** Validators for the fields of a tool's new container. */
export const newContainerFields = {
  file_ids: array(string({ min: 1 }), { max: 50 }),
  memory_limit: nullable(oneOf("1g", "4g", "16g", "64g")),
  network_policy: networkPolicy,
};

/** Returns a tool without the secrets of its container's network policy. Responses do not repeat them. */
export function hideContainerSecrets(entry: WireItem, containerField: string): WireItem {
  const container = readRecord(entry, containerField);
  const { domain_secrets: secrets, ...policy } = readRecord(container, "network_policy");
  return secrets === undefined
    ? entry
    : { ...entry, [containerField]: { ...container, network_policy: policy } };
}
