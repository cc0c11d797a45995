import { recordAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { byType, list, maybe, object, oneOf, type Shape, text } from "../validators/shapes.ts";
import { type } from "./item-fields.ts";

/** Validates which domains a container's programs may connect to. */
const networkPolicy: Shape = byType({
  disabled: object({ type }),
  allowlist: object(
    { type, allowed_domains: list(text({ min: 1 }), { min: 1 }) },
    { domain_secrets: list(object({ domain: text(), name: text(), value: text() })) },
  ),
});

/** Validators for the fields of a tool's new container. */
export const newContainerFields = {
  file_ids: list(text({ min: 1 }), { max: 50 }),
  memory_limit: maybe(oneOf("1g", "4g", "16g", "64g")),
  network_policy: networkPolicy,
};

/** Returns a tool without the secrets of its container's network policy. Responses do not repeat them. */
export function hideContainerSecrets(entry: WireItem, containerField: string): WireItem {
  const container = recordAt(entry, containerField);
  const { domain_secrets: secrets, ...policy } = recordAt(container, "network_policy");
  return secrets === undefined
    ? entry
    : { ...entry, [containerField]: { ...container, network_policy: policy } };
}
