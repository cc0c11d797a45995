import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readString,
  readStringOrNull,
  readStrings,
  type UnknownRecord,
} from "../../base/json.ts";
import { invalidType, invalidValue, unknownParameter } from "../api-problem.ts";
import { MEMORY_TIERS } from "../store/container-store.ts";
import {
  anyValue,
  array,
  assertValid,
  integer,
  joinPath,
  nullable,
  object,
  string,
  type Validator,
} from "../validators/validator.ts";
import type { ContainerOptions } from "./containers.ts";
import { createNetworkProblem, createSkillsProblem } from "./create-network-problem.ts";

/** Validates the body of `POST /v1/containers`. */
export function parseContainerOptions(body: unknown): ContainerOptions {
  const fields = checkBody(newContainer, body);
  const { network_policy: policy } = fields;
  return {
    name: readString(fields, "name"),
    fileIds: readStrings(fields, "file_ids"),
    expiresAfterMinutes: readNumber(readRecord(fields, "expires_after"), "minutes") ?? undefined,
    memoryLimit: readStringOrNull(fields, "memory_limit") ?? undefined,
    networkPolicy: isPlainObject(policy) ? { type: "disabled" } : undefined,
  };
}

/** Validates a body of `POST /v1/containers/{id}/files` that contains a file id. */
export function parseFileId(body: unknown): string {
  return readString(checkBody(object({ file_id: string() }), body), "file_id");
}

function checkBody(shape: Validator, body: unknown): UnknownRecord {
  if (!isPlainObject(body)) throw invalidType("body", "an object", body);
  assertValid(shape, body, "");
  return body;
}

/** Accepts only the given strings. The error for any other value lists them. */
function oneOfStrings(...values: readonly string[]): Validator {
  return (value, path) =>
    values.some((one) => one === value) ? null : invalidValue(path, value, values);
}

const fileIds: Validator = (value, path) =>
  Array.isArray(value)
    ? array(string())(value, path)
    : invalidType(path, "an array of strings", value);

/** OpenAI documents only 20 minutes. Less is accepted here so that expiry can be tested. */
const expiresAfter = object({
  anchor: oneOfStrings("last_active_at"),
  minutes: integer({ min: 1, max: 20 }),
});

const policyFields = object(
  { type: oneOfStrings("disabled", "allowlist") },
  { allowed_domains: anyValue, domain_secrets: anyValue },
);

const networkPolicy: Validator = (value, path) => {
  const problem = policyFields(value, path);
  if (problem || !isPlainObject(value)) return problem;
  if (value["type"] === "allowlist") return createNetworkProblem(joinPath(path, "type"));
  const extra = Object.keys(value).find((key) => key !== "type");
  return extra === undefined ? null : unknownParameter(joinPath(path, extra));
};

const newContainer = object(
  { name: string({ min: 1 }) },
  {
    file_ids: fileIds,
    expires_after: expiresAfter,
    memory_limit: nullable(oneOfStrings(...MEMORY_TIERS)),
    network_policy: nullable(networkPolicy),
    skills: (_value, path) => createSkillsProblem(path),
  },
);
