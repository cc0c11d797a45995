import { describe, test } from "vitest";
import { OpenAIAdapter } from "weakincentives/openai";
import { adapterContract, type MakeSubject, scriptedSubject } from "weakincentives/testing";
import { openaiSubject } from "./contract-server.ts";
import { clients } from "./openai-clients.ts";

const subjects: readonly (readonly [string, MakeSubject])[] = [
  ["the scripted client", scriptedSubject],
  ...clients.map(
    ([name, client]) =>
      [
        `OpenAI on ${name}`,
        openaiSubject(
          (url, clock) => new OpenAIAdapter({ model: "gpt-5.2", ...client(url), clock }),
        ),
      ] as const,
  ),
];

describe.each(subjects)("%s keeps the adapter contract:", (_name, make) => {
  for (const { name, run } of adapterContract(make)) test(name, run);
});
