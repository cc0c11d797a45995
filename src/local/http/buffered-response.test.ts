import { describe, expect, test } from "vitest";
import { BufferedResponse } from "./buffered-response.ts";

const json = { "content-type": "application/json" };

function createResponse(text = '{"owl":"\u00e9"}'): BufferedResponse {
  return new BufferedResponse(text, json, 201);
}

describe("BufferedResponse", () => {
  test("can be read like any Response", async () => {
    expect(createResponse()).toBeInstanceOf(Response);
    expect(createResponse()).toMatchObject({ status: 201, ok: true });
    expect(await createResponse().text()).toBe('{"owl":"\u00e9"}');
    expect(await createResponse().json()).toEqual({ owl: "\u00e9" });
    const bytes = new TextEncoder().encode('{"owl":"\u00e9"}');
    expect(await createResponse().bytes()).toEqual(bytes);
    expect(new Uint8Array(await createResponse().arrayBuffer())).toEqual(bytes);
    const blob = await createResponse().blob();
    expect([blob.type, await blob.text()]).toEqual(["application/json", '{"owl":"\u00e9"}']);
  });

  test("can be read as a form", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const form = await new BufferedResponse("owl=1", headers).formData();
    expect(form.get("owl")).toBe("1");
  });

  test("can be read only once", async () => {
    const response = createResponse();
    expect(response.bodyUsed).toBe(false);
    expect(response.body?.locked).toBe(false);
    expect(response.bodyUsed).toBe(false);
    await response.text();
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  test("can be cloned, read twice and wrapped with its headers", async () => {
    const response = createResponse();
    const copy = response.clone();
    expect(await Promise.all([copy.text(), response.text()])).toEqual([
      '{"owl":"\u00e9"}',
      '{"owl":"\u00e9"}',
    ]);
    const given = createResponse();
    const passed = new Response(given.body, given);
    expect([passed.status, passed.headers.get("content-type"), await passed.text()]).toEqual([
      201,
      "application/json",
      '{"owl":"\u00e9"}',
    ]);
  });

  test("keeps headers that were set before and after reading them", () => {
    const response = createResponse();
    response.setHeader("x-one", "1");
    expect(response.headerFields).toEqual({ ...json, "x-one": "1", "content-length": "12" });
    expect(response.headers.get("x-one")).toBe("1");
    response.setHeader("x-one", "2");
    response.headers.set("x-two", "2");
    expect(response.headers.get("x-one")).toBe("2");
    expect(response.headerFields).toEqual({
      ...json,
      "x-one": "2",
      "x-two": "2",
      "content-length": "12",
    });
    expect(json).toEqual({ "content-type": "application/json" });
  });
});
