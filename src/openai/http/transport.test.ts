import { describe, expect, test } from "vitest";
import { encodeForm, type Multipart } from "./transport.ts";

async function encode(form: Multipart): Promise<{ bytes: Buffer; type: string; length: number }> {
  const { contentType: type, length, pieces } = encodeForm(form);
  return { bytes: await concatPieces(pieces()), type, length };
}

async function concatPieces(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

/** Encodes a form with the runtime's own encoder and the same boundary. */
async function encodeWithRuntime(form: Multipart, boundary: string): Promise<string> {
  const fields = new FormData();
  for (const [name, value] of form) fields.append(name, value);
  const request = new Request("http://127.0.0.1/", { method: "POST", body: fields });
  const theirs = /boundary=(.*)$/.exec(request.headers.get("content-type") ?? "")?.[1] ?? "";
  return (await request.text()).replaceAll(theirs, boundary);
}

async function parseForm(form: Multipart): Promise<FormData> {
  const { bytes, type } = await encode(form);
  return await new Response(new Uint8Array(bytes), {
    headers: { "content-type": type },
  }).formData();
}

describe("encodeForm()", () => {
  const plain: Multipart = [
    ["purpose", "user_data"],
    ["file", new File(["a,b\n1,2\n"], "Data of é 🙂.csv", { type: "text/csv" })],
  ];

  test.each<[string, Multipart]>([
    ["fields and a file", plain],
    ["nothing", []],
    ["an empty file without a type", [["file", new File([], "a")]]],
    ["all kinds of line breaks", [["a\nb\rc\r\nd", "1\n2\r3\r\n4"]]],
    ["a hostile name", [['a"; name="b', 'x"y']]],
    ["a hostile file name", [["file", new File(["x"], 'a"\r\n\r\nX-Evil: 1\n.txt')]]],
    ["a lone surrogate", [["\ud800", "\ud800"]]],
  ])("encodes %s like the runtime", async (_, form) => {
    const { bytes, type, length } = await encode(form);
    const boundary = /^multipart\/form-data; boundary=([-\w]{20,70})$/.exec(type)?.[1] ?? "";
    expect(bytes.toString()).toBe(await encodeWithRuntime(form, boundary));
    expect(length).toBe(bytes.length);
  });

  test("encodes a form that parses to the same fields", async () => {
    const form = await parseForm(plain);
    expect([...form.keys()]).toEqual(["purpose", "file"]);
    const file = form.get("file");
    expect(file).toMatchObject({ name: "Data of é 🙂.csv", type: "text/csv" });
    expect(file instanceof File && (await file.text())).toBe("a,b\n1,2\n");
  });

  test.each([
    'a"b.txt',
    "a\nb",
    "a\r\nContent-Type: x\r\n\r\nb",
    'x"; name="purpose',
    "../a\\b",
    "\0",
  ])("encodes one file with the name %j", async (name) => {
    const form = await parseForm([["file", new File(["x"], name)]]);
    expect([...form.keys()]).toEqual(["file"]);
    expect(form.getAll("file")).toHaveLength(1);
  });

  test("uses a new boundary each time", () => {
    expect(encodeForm(plain).contentType).not.toBe(encodeForm(plain).contentType);
  });

  test("can generate the form again", async () => {
    const { pieces } = encodeForm(plain);
    expect(await concatPieces(pieces())).toEqual(await concatPieces(pieces()));
  });
});

describe("a piece of an encoded form", () => {
  test("is spare only if it comes from a file", async () => {
    const spare: Uint8Array[] = [];
    const form = encodeForm([
      ["a", "1"],
      ["file", new File(["hello"], "x")],
    ]);
    for await (const _ of form.pieces((piece) => spare.push(piece)));
    expect(Buffer.concat(spare).toString()).toBe("hello");
  });

  test("does not affect its file when it is freed", async () => {
    const file = new File(["hello"], "x");
    const encodeAndFree = async () => {
      const spare: Uint8Array[] = [];
      for await (const _ of encodeForm([["file", file]]).pieces((piece) => spare.push(piece)));
      for (const { buffer } of spare) structuredClone(buffer, { transfer: [buffer] });
      return spare.map(({ length }) => length);
    };
    expect(await encodeAndFree()).toEqual([0]);
    expect(await encodeAndFree()).toEqual([0]);
    expect(await file.text()).toBe("hello");
  });

  test("is not spare if a custom file may reuse its memory", async () => {
    const kept = new TextEncoder().encode("hello");
    class Lazy extends File {
      override stream() {
        return new Blob([kept]).stream();
      }
    }
    const spare: Uint8Array[] = [];
    const form = encodeForm([["file", new Lazy(["....."], "x")]]);
    const parts: Uint8Array[] = [];
    for await (const piece of form.pieces((one) => spare.push(one))) parts.push(piece);
    expect(Buffer.concat(parts).toString()).toContain("\r\n\r\nhello\r\n");
    expect(spare).toEqual([]);
  });

  test("is not read unless it is requested", async () => {
    let isCancelled = false;
    class Endless extends File {
      override stream() {
        return new ReadableStream<Uint8Array<ArrayBuffer>>({
          pull: (controller) => controller.enqueue(new Uint8Array(10)),
          cancel: () => {
            isCancelled = true;
          },
        });
      }
    }
    let read = 0;
    for await (const piece of encodeForm([["file", new Endless([], "x")]]).pieces()) {
      read += piece.length;
      if (read > 1_000) break;
    }
    expect(isCancelled).toBe(true);
  });
});
