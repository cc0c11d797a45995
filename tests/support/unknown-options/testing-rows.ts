import { JsonlSessionStore } from "weakincentives/stores";
import * as testing from "weakincentives/testing";
import { prompt, type Row, session } from "./row.ts";

/** `weakincentives/testing`. */
export const testingRows: readonly Row[] = [
  ["fakeClock(options)", "skipSleep", "skipsSleep", (o) => testing.fakeClock(o)],
  [
    "Clock.sleep(options)",
    "backgroud",
    "background",
    (o) => testing.fakeClock().sleep(0, undefined, o),
  ],
  ["cassette(options)", "mod", "mode", (o) => testing.cassette("run.jsonl", Object(o))],
  ["scriptedClient.with(options)", "loger", "logger", (o) => testing.scriptedClient().with(o)],
  [
    "evaluate(options)",
    "sesion",
    "session",
    (o) => testing.scriptedClient({ text: "Hi." }).evaluate(prompt, { session, ...Object(o) }),
  ],
  [
    "evaluate(options)",
    "sesion",
    "session",
    (o) => testing.scriptedClient({ text: "Hi." }).stream(prompt, Object(o)).response,
  ],
  [
    "toResponse(init)",
    "includes",
    "include",
    (o) => testing.scriptedClient({ text: "Hi." }).stream(prompt).toResponse(o),
  ],
  [
    "scriptedClient(script)[0]",
    "txet",
    "text",
    (o) => testing.scriptedClient({ text: "Hi.", ...Object(o) }),
  ],
  [
    "scriptedClient(script)[0].toolCalls[0]",
    "argument",
    "arguments",
    (o) => testing.scriptedClient({ toolCalls: [{ name: "a", ...Object(o) }] }),
  ],
  [
    "scriptedClient(script)[0].hostedCalls[0]",
    "ouput",
    "output",
    (o) => testing.scriptedClient({ hostedCalls: [{ name: "a", ...Object(o) }] }),
  ],
  [
    "adapterContract(options)",
    "compact",
    "compacts",
    (o) => testing.adapterContract(testing.scriptedSubject, o),
  ],
  [
    "sessionStoreContract(options)",
    "claim",
    "claims",
    (o) => testing.sessionStoreContract(() => new JsonlSessionStore("unused"), o),
  ],
];
