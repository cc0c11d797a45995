import { describe, expect, test } from "vitest";
import { arrangeTurns } from "./arrange-turns.ts";
import type { ChatCall, ChatTurn } from "./chat-turns.ts";

const system = (text: string): ChatTurn => ({ role: "system", parts: [{ text }] });
const developer = (text: string): ChatTurn => ({ role: "developer", parts: [{ text }] });
const user = (text: string): ChatTurn => ({ role: "user", parts: [{ text }] });
const answer = (text: string): ChatTurn => ({ role: "assistant", text, calls: [] });
const createCall = (id: string, result = `${id}.`): ChatCall => {
  return { id, name: "add", args: "{}", result: [{ text: result }] };
};
const calls = (...made: readonly ChatCall[]): ChatTurn => {
  return { role: "assistant", text: "", calls: made };
};
const picture = { image: "https://a.test/b.png", detail: null };

describe("arrangeTurns()", () => {
  test("joins the instructions and all system text before the first user turn", () => {
    expect(arrangeTurns("A.", [system("B."), developer("C."), user("Hi.")])).toEqual({
      system: "A.\n\nB.\n\nC.",
      turns: [user("Hi.")],
    });
    expect(arrangeTurns(null, [user("Hi.")])).toEqual({ system: null, turns: [user("Hi.")] });
  });

  test("sends system text as the first user turn if no user turn follows", () => {
    expect(arrangeTurns(null, [system("A."), system("B.")])).toEqual({
      system: null,
      turns: [user("A.\n\nB.")],
    });
    expect(arrangeTurns("A.", [system("B."), answer("C."), user("D.")])).toEqual({
      system: "A.",
      turns: [user("B."), answer("C."), user("D.")],
    });
    expect(arrangeTurns("A.", [])).toEqual({ system: null, turns: [user("A.")] });
    expect(arrangeTurns(null, [])).toEqual({ system: null, turns: [] });
  });

  test("joins late system text to the user turn next to it, marked", () => {
    const turns = [user("A."), system("B."), answer("C."), developer("D."), user("E.")];
    expect(arrangeTurns(null, turns).turns).toEqual([
      user("A.\n\n<system>\nB.\n</system>"),
      answer("C."),
      user("<system>\nD.\n</system>\n\nE."),
    ]);
  });

  test("joins system text after calls to the last result", () => {
    const turns = [user("A."), calls(createCall("1"), createCall("2")), system("B.")];
    expect(arrangeTurns(null, turns).turns).toEqual([
      user("A."),
      calls(createCall("1"), createCall("2", "2.\n\n<system>\nB.\n</system>")),
    ]);
  });

  test("separates the results of calls from a user turn", () => {
    const turns = [user("A."), calls(createCall("1")), user("B.")];
    expect(arrangeTurns(null, turns).turns).toEqual([
      user("A."),
      calls(createCall("1")),
      answer("[Interrupted by the next message.]"),
      user("B."),
    ]);
  });

  test("joins consecutive turns of a role, and keeps calls with their text", () => {
    const turns = [user("A."), user(""), user("B."), answer("C."), answer("D."), user("E.")];
    expect(arrangeTurns(null, turns).turns).toEqual([
      user("A.\n\nB."),
      answer("C.\n\nD."),
      user("E."),
    ]);
    const called: ChatTurn = { role: "assistant", text: "B.", calls: [createCall("1")] };
    expect(arrangeTurns(null, [user("A."), called, answer("C.")]).turns).toEqual([
      user("A."),
      called,
      answer("C."),
    ]);
  });

  test("keeps the images of user and system messages in order", () => {
    const shown: ChatTurn = { role: "system", parts: [{ text: "A." }, picture] };
    const looked: ChatTurn = { role: "user", parts: [picture] };
    expect(arrangeTurns("S.", [shown, looked, user("B.")])).toEqual({
      system: "S.",
      turns: [
        {
          role: "user",
          parts: [{ text: "<system>\nA.\n</system>" }, picture, picture, { text: "B." }],
        },
      ],
    });
  });

  test("arranges the start of a conversation the same with any continuation", () => {
    const turns = [
      ...[system("A."), user("B."), calls(createCall("1")), system("C."), answer("D.")],
      ...[system("E."), user("F."), answer("G."), user("H."), answer("I."), system("J.")],
    ];
    const whole = arrangeTurns("S.", turns);
    for (const [place, turn] of turns.entries()) {
      if (turn.role !== "assistant" || turn.calls.length > 0) continue;
      const start = arrangeTurns("S.", turns.slice(0, place + 1));
      expect(start.system).toBe(whole.system);
      expect(whole.turns.slice(0, start.turns.length)).toEqual(start.turns);
    }
  });
});
