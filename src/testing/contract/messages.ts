import { ThrottleError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectRejection, expectSame } from "./expect.ts";
import { createPrompt, createRolesPrompt, noteTool, ROLE_TEXTS } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const input = "Count the owls.";
const callNote = { toolCalls: [{ name: "note", arguments: { word: "a" } }] };

/** Cases about the roles of messages, the input of an evaluation, and its session. */
export const messageCases: readonly ContractCase[] = [
  {
    name: "sends system text before user text, and the input of the evaluation last",
    script: [{ text: "Three." }],
    async check({ adapter, asked }) {
      await adapter.evaluate(createRolesPrompt(), { input });
      const [request = ""] = asked();
      const places = [ROLE_TEXTS.system, ROLE_TEXTS.user, input].map((text) =>
        request.indexOf(text),
      );
      expectSame(places.includes(-1), false, "a text is missing from the request");
      expectSame(
        places,
        places.toSorted((a, b) => a - b),
        "places of the texts in the request",
      );
    },
  },
  {
    name: "sends the input once, also if the evaluation has several turns",
    script: [callNote, { text: "Three." }],
    async check({ adapter, asked }) {
      await adapter.evaluate(createRolesPrompt([noteTool]), { input });
      const counts = asked().map((request) => request.split(input).length - 1);
      expectSame(counts[0], 1, "inputs in the first request");
      expectSame(Number(counts[1]) <= 1, true, "the second request has the input at most once");
    },
  },
  {
    name: "creates a session if it gets none, and returns it with the response",
    script: [{ text: "Hello." }],
    async check({ adapter }) {
      const response = await adapter.evaluate(createPrompt());
      expectSame(response.session instanceof Session, true, "response.session is a session");
    },
  },
  {
    name: "publishes PromptFailed as the last event of a failed evaluation",
    script: [callNote, { throttle: { kind: "quota_exhausted" } }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      await expectRejection(adapter.evaluate(createPrompt([noteTool]), { session }), ThrottleError);
      const [failed] = bus.of("PromptFailed");
      expectSame(bus.types().at(-1), "PromptFailed", "the last event");
      expectSame(
        [failed?.errorName, failed?.turns, bus.of("PromptExecuted").length],
        ["ThrottleError", 1, 0],
        "PromptFailed",
      );
    },
  },
];
