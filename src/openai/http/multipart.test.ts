import { describe, expect, test } from "vitest";
import { writtenForm } from "./multipart.ts";
import type { Multipart } from "./transport.ts";

async function bytesOf(form: Multipart): Promise<{ bytes: Buffer; type: string; length: number }> {
  const { contentType: type, length, pieces } = writtenForm(form);
  return { bytes: await joined(pieces()), type, length };
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

/** What the runtime's own writer makes of it, by the same boundary. */
async function asTheRuntimeDoes(form: Multipart, boundary: string): Promise<string> {
  const fields = new FormData();
  for (const [name, value] of form) fields.append(name, value);
  const request = new Request("http://127.0.0.1/", { method: "POST", body: fields });
  const theirs = /boundary=(.*)$/.exec(request.headers.get("content-type") ?? "")?.[1] ?? "";
  return (await request.text()).replaceAll(theirs, boundary);
}

async function read(form: Multipart): Promise<FormData> {
  const { bytes, type } = await bytesOf(form);
  return await new Response(new Uint8Array(bytes), {
    headers: { "content-type": type },
  }).formData();
}

describe("a form", () => {
  const plain: Multipart = [
    ["purpose", "user_data"],
    ["file", new File(["a,b\n1,2\n"], "Data of é 🙂.csv", { type: "text/csv" })],
  ];

  test.each<[string, Multipart]>([
    ["fields and a file", plain],
    ["nothing", []],
    ["a file of no type, and an empty one", [["file", new File([], "a")]]],
    ["lines of all kinds", [["a\nb\rc\r\nd", "1\n2\r3\r\n4"]]],
    ["a hostile name", [['a"; name="b', 'x"y']]],
    ["a hostile file name", [["file", new File(["x"], 'a"\r\n\r\nX-Evil: 1\n.txt')]]],
    ["half a letter", [["\ud800", "\ud800"]]],
  ])("of %s is written as the runtime writes it", async (_, form) => {
    const { bytes, type, length } = await bytesOf(form);
    const boundary = /^multipart\/form-data; boundary=([-\w]{20,70})$/.exec(type)?.[1] ?? "";
    expect(bytes.toString()).toBe(await asTheRuntimeDoes(form, boundary));
    expect(length).toBe(bytes.length);
  });

  test("is read back as it was", async () => {
    const form = await read(plain);
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
  ])("has one file whatever that is called: %j", async (name) => {
    const form = await read([["file", new File(["x"], name)]]);
    expect([...form.keys()]).toEqual(["file"]);
    expect(form.getAll("file")).toHaveLength(1);
  });

  test("has another boundary each time", () => {
    expect(writtenForm(plain).contentType).not.toBe(writtenForm(plain).contentType);
  });

  test("may be written again", async () => {
    const { pieces } = writtenForm(plain);
    expect(await joined(pieces())).toEqual(await joined(pieces()));
  });
});

describe("a piece", () => {
  test("is spare if it is of a file, and not if it is ours", async () => {
    const spare: Uint8Array[] = [];
    const form = writtenForm([
      ["a", "1"],
      ["file", new File(["hello"], "x")],
    ]);
    for await (const _ of form.pieces((piece) => spare.push(piece)));
    expect(Buffer.concat(spare).toString()).toBe("hello");
  });

  test("that is freed leaves its file whole", async () => {
    const file = new File(["hello"], "x");
    const freed = async () => {
      const spare: Uint8Array[] = [];
      for await (const _ of writtenForm([["file", file]]).pieces((piece) => spare.push(piece)));
      for (const { buffer } of spare) structuredClone(buffer, { transfer: [buffer] });
      return spare.map(({ length }) => length);
    };
    expect(await freed()).toEqual([0]);
    expect(await freed()).toEqual([0]);
    expect(await file.text()).toBe("hello");
  });

  test("is not spare where a file gives what it may still need", async () => {
    const kept = new TextEncoder().encode("hello");
    class Lazy extends File {
      override stream() {
        return new Blob([kept]).stream();
      }
    }
    const spare: Uint8Array[] = [];
    const form = writtenForm([["file", new Lazy(["....."], "x")]]);
    const parts: Uint8Array[] = [];
    for await (const piece of form.pieces((one) => spare.push(one))) parts.push(piece);
    expect(Buffer.concat(parts).toString()).toContain("\r\n\r\nhello\r\n");
    expect(spare).toEqual([]);
  });

  test("that nobody asks for is not read", async () => {
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
    for await (const piece of writtenForm([["file", new Endless([], "x")]]).pieces()) {
      read += piece.length;
      if (read > 1_000) break;
    }
    expect(isCancelled).toBe(true);
  });
});
