import { describe, test } from "vitest";
import { adapterContract, scriptedSubject } from "weakincentives/testing";

describe.each([["the scripted client", scriptedSubject]])(
  "%s keeps the adapter contract:",
  (_name, make) => {
    for (const { name, run } of adapterContract(make)) test(name, run);
  },
);
