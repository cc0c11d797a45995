import { isPlainObject } from "../../base/freeze.ts";
import {
  ApiProblem,
  invalidType,
  invalidValue,
  missingParameter,
  unknownParameter,
} from "../api-problem.ts";
import { MEMORY_TIERS, type NetworkPolicy } from "../store/container-store.ts";
import { boundedInteger } from "../validators/shapes.ts";
import type { ContainerOptions } from "./containers.ts";

/** OpenAI documents 20 minutes alone; less is let through, so that expiry can be met. */
const MINUTES = [1, 20] as const;

/** The body of `POST /v1/containers`, checked. */
export function containerOptions(body: unknown): ContainerOptions {
  const fields = knownFields(body, "", [
    "name",
    "file_ids",
    "expires_after",
    "memory_limit",
    "network_policy",
    "skills",
  ]);
  if (fields["skills"] !== undefined) throw noSkills("skills");
  return {
    name: nameIn(fields),
    fileIds: fileIdsIn(fields),
    expiresAfterMinutes: minutesIn(fields),
    memoryLimit: memoryLimitIn(fields),
    networkPolicy: networkPolicyIn(fields),
  };
}

/** The body of `POST /v1/containers/{id}/files` that names a file, checked. */
export function fileIdIn(body: unknown): string {
  const { file_id: fileId } = knownFields(body, "", ["file_id"]);
  if (fileId === undefined) throw missingParameter("file_id");
  if (typeof fileId !== "string") throw invalidType("file_id", "a string", fileId);
  return fileId;
}

/** No code has a network here, so the promise of one is refused instead of broken. */
export function noNetwork(param: string): ApiProblem {
  const message = `Containers of the local provider have no network: '${param}' must be 'disabled'.`;
  return new ApiProblem(400, message, { param, code: "invalid_value" });
}

/** Nothing would read them here. */
export function noSkills(param: string): ApiProblem {
  const message = `Unsupported parameter: '${param}' is not supported by the local provider.`;
  return new ApiProblem(400, message, { param, code: "unsupported_parameter" });
}

type Fields = Readonly<Record<string, unknown>>;

function knownFields(value: unknown, name: string, known: readonly string[]): Fields {
  if (!isPlainObject(value)) throw invalidType(name || "body", "an object", value);
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw unknownParameter(name ? `${name}.${key}` : key);
  }
  return value;
}

function nameIn({ name }: Fields): string {
  if (name === undefined) throw missingParameter("name");
  if (typeof name !== "string") throw invalidType("name", "a string", name);
  if (name !== "") return name;
  const message =
    "Invalid 'name': empty string. Expected a string with minimum length 1, but got an empty string instead.";
  throw new ApiProblem(400, message, { param: "name", code: "empty_string" });
}

function fileIdsIn({ file_ids: ids = [] }: Fields): readonly string[] {
  if (!Array.isArray(ids)) throw invalidType("file_ids", "an array of strings", ids);
  return ids.map((id: unknown, index) => {
    if (typeof id === "string") return id;
    throw invalidType(`file_ids[${index}]`, "a string", id);
  });
}

function minutesIn({ expires_after: expiry }: Fields): number | undefined {
  if (expiry === undefined) return undefined;
  const { anchor, minutes } = knownFields(expiry, "expires_after", ["anchor", "minutes"]);
  if (anchor === undefined) throw missingParameter("expires_after.anchor");
  if (anchor !== "last_active_at") {
    throw invalidValue("expires_after.anchor", anchor, ["last_active_at"]);
  }
  if (minutes === undefined) throw missingParameter("expires_after.minutes");
  if (typeof minutes === "string") {
    throw invalidType("expires_after.minutes", "an integer", minutes);
  }
  return boundedInteger("expires_after.minutes", minutes, MINUTES);
}

function memoryLimitIn({ memory_limit: limit }: Fields): string | undefined {
  if (limit === undefined || limit === null) return undefined;
  const tier = MEMORY_TIERS.find((one) => one === limit);
  if (!tier) throw invalidValue("memory_limit", limit, MEMORY_TIERS);
  return tier;
}

function networkPolicyIn({ network_policy: policy }: Fields): NetworkPolicy | undefined {
  if (policy === undefined || policy === null) return undefined;
  const param = "network_policy.type";
  const keys = ["type", "allowed_domains", "domain_secrets"];
  const { type, ...rest } = knownFields(policy, "network_policy", keys);
  if (type === undefined) throw missingParameter(param);
  if (type === "allowlist") throw noNetwork(param);
  if (type !== "disabled") throw invalidValue(param, type, ["disabled", "allowlist"]);
  for (const key of Object.keys(rest)) throw unknownParameter(`network_policy.${key}`);
  return { type };
}
