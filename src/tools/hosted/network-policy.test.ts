import { expect, test } from "vitest";
import { checkNetworkPolicy, type NetworkPolicy } from "./network-policy.ts";

const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const allowlist = { type: "allowlist", allowedDomains: ["pypi.org"] };
const secret = { domain: "pypi.org", name: "TOKEN", value: "s3cret" };

test.each<NetworkPolicy>([
  { type: "disabled" },
  { type: "allowlist", allowedDomains: ["pypi.org", "files.pythonhosted.org"] },
  { type: "allowlist", allowedDomains: ["pypi.org"], domainSecrets: [secret] },
  { type: "allowlist", allowedDomains: ["pypi.org"], domainSecrets: undefined },
])("checkNetworkPolicy() accepts %j", (policy) => {
  expect(() => checkNetworkPolicy(policy, "policy")).not.toThrow();
});

test.each([
  [{}, "policy.type", undefined],
  [{ type: "open" }, "policy.type", "open"],
  [{ type: "disabled", allowedDomains: [] }, "policy key", "allowedDomains"],
  [{ type: "allowlist" }, "policy.allowedDomains", undefined],
  [{ type: "allowlist", allowedDomains: [] }, "policy.allowedDomains.length", 0],
  [
    { type: "allowlist", allowedDomains: ["https://pypi.org"] },
    "policy.allowedDomains[0]",
    "https://pypi.org",
  ],
  [{ ...allowlist, domainSecret: [secret] }, "policy key", "domainSecret"],
  [
    { ...allowlist, domainSecrets: [{ ...secret, domain: "x" }] },
    "policy.domainSecrets[0].domain",
    "x",
  ],
  [{ ...allowlist, domainSecrets: [{ ...secret, name: "" }] }, "policy.domainSecrets[0].name", ""],
  [
    { ...allowlist, domainSecrets: [{ ...secret, values: "s3cret" }] },
    "policy.domainSecrets[0] key",
    "values",
  ],
  ["s3cret", "policy", undefined],
  [{ ...allowlist, domainSecrets: secret }, "policy.domainSecrets", undefined],
  [{ ...allowlist, domainSecrets: ["s3cret"] }, "policy.domainSecrets[0]", undefined],
  [
    { ...allowlist, domainSecrets: [{ ...secret, value: ["s3cret"] }] },
    "policy.domainSecrets[0].value",
    undefined,
  ],
  [
    { ...allowlist, domainSecrets: [{ ...secret, value: "" }] },
    "policy.domainSecrets[0].value",
    undefined,
  ],
])("checkNetworkPolicy() rejects %j at %j without quoting secrets", (policy, field, value) => {
  expect(() => checkNetworkPolicy(policy, "policy")).toThrow(
    matchError({ field, value, message: expect.not.stringContaining("s3cret") }),
  );
});
