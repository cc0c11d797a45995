import { describe, expect, test } from "vitest";
import { WholeResponse } from "./whole-response.ts";

const json = { "content-type": "application/json" };

function made(text = '{"owl":"\u00e9"}'): WholeResponse {
  return new WholeResponse(text, json, 201);
}

describe("a whole response", () => {
  test("is a response, and is read as one", async () => {
    expect(made()).toBeInstanceOf(Response);
    expect(made()).toMatchObject({ status: 201, ok: true });
    expect(await made().text()).toBe('{"owl":"\u00e9"}');
    expect(await made().json()).toEqual({ owl: "\u00e9" });
    const bytes = new TextEncoder().encode('{"owl":"\u00e9"}');
    expect(await made().bytes()).toEqual(bytes);
    expect(new Uint8Array(await made().arrayBuffer())).toEqual(bytes);
    const blob = await made().blob();
    expect([blob.type, await blob.text()]).toEqual(["application/json", '{"owl":"\u00e9"}']);
  });

  test("is read as a form", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const form = await new WholeResponse("owl=1", headers).formData();
    expect(form.get("owl")).toBe("1");
  });

  test("is read once", async () => {
    const response = made();
    expect(response.bodyUsed).toBe(false);
    expect(response.body?.locked).toBe(false);
    expect(response.bodyUsed).toBe(false);
    await response.text();
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  test("is read twice if it was cloned, and passed on with all that it says", async () => {
    const response = made();
    const copy = response.clone();
    expect(await Promise.all([copy.text(), response.text()])).toEqual([
      '{"owl":"\u00e9"}',
      '{"owl":"\u00e9"}',
    ]);
    const given = made();
    const passed = new Response(given.body, given);
    expect([passed.status, passed.headers.get("content-type"), await passed.text()]).toEqual([
      201,
      "application/json",
      '{"owl":"\u00e9"}',
    ]);
  });

  test("has the headers that were put on it, before and after they were looked at", () => {
    const response = made();
    response.put("x-one", "1");
    expect(response.head).toEqual({ ...json, "x-one": "1", "content-length": "12" });
    expect(response.headers.get("x-one")).toBe("1");
    response.put("x-one", "2");
    response.headers.set("x-two", "2");
    expect(response.headers.get("x-one")).toBe("2");
    expect(response.head).toEqual({
      ...json,
      "x-one": "2",
      "x-two": "2",
      "content-length": "12",
    });
    expect(json).toEqual({ "content-type": "application/json" });
  });
});
