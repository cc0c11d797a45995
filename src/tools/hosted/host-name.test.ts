import { expect, test } from "vitest";
import { checkHostName } from "./host-name.ts";

test.each([
  "cdc.gov",
  "CDC.gov",
  "pubmed.ncbi.nlm.nih.gov",
  "xn--mnchen-3ya.de",
  "a-b.co",
  "3m.com",
  "x.museum",
  `${"a".repeat(63)}.org`,
  "example.xn--p1ai",
])("checkHostName() accepts %j", (value) => {
  expect(() => checkHostName(value, "domain")).not.toThrow();
});

test.each([
  ["https://cdc.gov", '"cdc.gov"'],
  ["http://www.cdc.gov/flu?x=1#y", '"www.cdc.gov"'],
  ["cdc.gov/flu", '"cdc.gov"'],
  ["cdc.gov:443", '"cdc.gov"'],
  ["*.cdc.gov", '"cdc.gov"'],
  [".cdc.gov", '"cdc.gov"'],
  ["cdc.gov.", '"cdc.gov"'],
  [" cdc.gov ", '"cdc.gov"'],
  ["münchen.de", '"xn--mnchen-3ya.de"'],
])("checkHostName() rejects %j and suggests %s", (value, meant) => {
  expect(() => checkHostName(value, "domain")).toThrow(
    expect.objectContaining({
      name: "PromptValidationError",
      field: "domain",
      value,
      message: expect.stringMatching(`\\. Use ${meant}\\.$`),
    }),
  );
});

test.each([
  "",
  " ",
  "localhost",
  "cdc gov",
  "cdc..gov",
  "-cdc.gov",
  "cdc-.gov",
  "my_site.com",
  "192.168.0.1",
  "*",
  "https://",
  `${"a".repeat(64)}.org`,
  `${"abc.".repeat(63)}abcd`,
  7,
  null,
  undefined,
  ["cdc.gov"],
])("checkHostName() rejects %j and gives an example", (value) => {
  expect(() => checkHostName(value, "domain")).toThrow(
    expect.objectContaining({
      name: "PromptValidationError",
      message: expect.stringMatching(/\. Use a name such as "cdc\.gov"\.$/),
    }),
  );
});
