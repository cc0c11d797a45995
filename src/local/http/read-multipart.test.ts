import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryDataDir, startLocalStorage } from "../../../tests/support/local-storage.ts";
import { startLocalStorageProcess } from "../../../tests/support/local-storage-process.ts";

type Api = Awaited<ReturnType<typeof startLocalStorage>>;

const PART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
const PURPOSE = '--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n';
const END = "\r\n--x--\r\n";

async function send(
  { url }: Pick<Api, "url">,
  body: string | ReadableStream,
  type = "multipart/form-data; boundary=x",
) {
  const headers = { "content-type": type };
  const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
  const answer = await fetch(`${url}/files`, init);
  const json = (await answer.json()) as {
    readonly filename?: string;
    readonly error?: { readonly message: string };
  };
  return { http: answer.status, ...json };
}

function listIncoming({ dataDir }: Api): readonly string[] {
  return [...readdirSync(join(dataDir, "incoming")), ...readdirSync(join(dataDir, "files"))];
}

describe("readMultipart() rejects an invalid form and deletes its file:", () => {
  const ended = "Unexpected end of multipart data";
  it.each([
    ["cut off in a file", `${PURPOSE}${PART}hel`, ended],
    ["cut off in a header", "--x\r\nContent-Dispo", ended],
    ["cut off in a field", PURPOSE.slice(0, -6), ended],
    ["cut off after a boundary", "--x\r\n", ended],
    ["empty", "", ended],
    ["of bytes that are not multipart", "{}", ended],
    [
      "with a part whose header has no end",
      `${PART}hello\r\n--x\r\nfoo${END}`,
      "A part's header has no end",
    ],
    ["with only a part whose header has no end", `--x\r\nfoo${END}`, "A part's header has no end"],
    ["of two files", `${PURPOSE}${PART}one\r\n${PART}two${END}`, "It has too many parts"],
    ["of many fields", `${PURPOSE.repeat(30)}${PART}one${END}`, "It has too many parts"],
    [
      "with a field that is too long",
      `${PURPOSE.replace("user_data", "y".repeat(100_000))}${PART}one${END}`,
      "The field 'purpose' is too long",
    ],
  ])("a form %s", async (_name, body, problem) => {
    await using api = await startLocalStorage();
    expect(await send(api, body)).toMatchObject({
      http: 400,
      error: { message: `The multipart form could not be read: ${problem}.` },
    });
    expect(listIncoming(api)).toEqual([]);
    expect(api.faults).toEqual([]);
  });

  it("a form without a body or a content type", async () => {
    await using api = await startLocalStorage();
    const answer = await fetch(`${api.url}/files`, { method: "POST" });
    expect(await answer.json()).toMatchObject({
      error: { message: "Invalid Content-Type header (), expected multipart/form-data." },
    });
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const empty = await fetch(`${api.url}/files`, { method: "POST", headers });
    expect(empty.status).toBe(400);
  });

  it("a form with an unnamed field", async () => {
    await using api = await startLocalStorage();
    const body = `--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n${PURPOSE}${PART}one${END}`;
    expect(await send(api, body)).toMatchObject({
      http: 400,
      error: { message: "Unknown parameter: ''." },
    });
  });

  it("a form without a boundary", async () => {
    await using api = await startLocalStorage();
    const answer = await send(api, `${PART}one${END}`, "multipart/form-data");
    const message = "The multipart form could not be read: Multipart: Boundary not found.";
    expect(answer).toMatchObject({ http: 400, error: { message } });
  });

  it("a form whose client disconnects", async () => {
    await using api = await startLocalStorage();
    const socket = connect(api.port, "127.0.0.1");
    socket.write(
      `POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n${PURPOSE}${PART}hello`,
    );
    await expect.poll(() => listIncoming(api)).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => listIncoming(api)).toEqual([]);
    expect(api.faults).toEqual([]);
  });
});

describe("readMultipart() rejects a file that is too large", () => {
  const message = "The file is too large: the maximum is 1000 bytes.";

  it("as soon as it exceeds the limit, and deletes its bytes", async () => {
    await using api = await startLocalStorage({ maxFileBytes: 1000 });
    const answer = await send(api, `${PURPOSE}${PART}${"y".repeat(1001)}${END}`);
    expect(answer).toMatchObject({ http: 413, error: { message } });
    expect(listIncoming(api)).toEqual([]);
    expect(await send(api, `${PURPOSE}${PART}${"y".repeat(1000)}${END}`)).toMatchObject({
      http: 200,
      bytes: 1000,
    });
  });

  it("before it arrives, if its length is declared", async () => {
    await using api = await startLocalStorage({ maxFileBytes: 1000 });
    const answer = await send(api, "y".repeat(2_000_000));
    expect(answer).toMatchObject({ http: 413, error: { message } });
    expect(listIncoming(api)).toEqual([]);
  });
});

describe("an uploaded file's name", () => {
  it.each([
    ["../../etc/passwd", "passwd"],
    ["..\\..\\boot.ini", "boot.ini"],
    ["/etc/shadow", "shadow"],
    ["..", "file"],
    ["", "file"],
    ["a\0b.txt", "a_b.txt"],
    ["tab\there.txt", "tab_here.txt"],
    ["日本語 🎉.txt", "日本語 🎉.txt"],
    [`${"n".repeat(5000)}.txt`, `${"n".repeat(251)}.txt`],
    [`${"🎉".repeat(500)}.txt`, `${"🎉".repeat(62)}.txt`],
    ["z".repeat(5000), "z".repeat(255)],
    ["__proto__", "__proto__"],
    ["-rf", "-rf"],
  ])("%j is stored as %j and never used as a path on disk", async (name, kept) => {
    await using api = await startLocalStorage();
    const answer = await send(api, `${PURPOSE}${PART.replace("a.txt", () => name)}hello${END}`);
    expect(answer).toMatchObject({ http: 200, filename: kept, bytes: 5 });
    expect(listIncoming(api)).toEqual([expect.stringMatching(/^file-[0-9a-f]+$/)]);
  });

  it("ends at the end of its header line", async () => {
    await using api = await startLocalStorage();
    const body = `${PURPOSE}${PART.replace("a.txt", "a\r\nX-Evil: 1")}hello${END}`;
    expect(await send(api, body)).toMatchObject({ http: 200, filename: "a" });
  });
});

describe("readMultipart() of a large file", () => {
  it.skipIf(process.platform !== "linux")("uses constant memory for 50 MB and 350 MB", async () => {
    using folder = createTemporaryDataDir();
    await using server = await startLocalStorageProcess(folder.path);
    // On a busy machine up to 30 MB of chunks are collected later than in the first upload: the second one has to be
    // much larger than that for its bytes to be told from them.
    const before = await measureUpload(server, 2 ** 20 * 50);
    const after = await measureUpload(server, 2 ** 20 * 350);
    expect(after - before).toBeLessThan(50 * 2 ** 20);
  });
});

/** Uploads this many bytes and returns the server's peak memory. */
async function measureUpload(
  { url, pid }: { readonly url: string; readonly pid: number },
  bytes: number,
): Promise<number> {
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (sent === 0) controller.enqueue(Buffer.from(`${PURPOSE}${PART}`));
      controller.enqueue(new Uint8Array(2 ** 16));
      sent += 2 ** 16;
      if (sent < bytes) return;
      controller.enqueue(Buffer.from(END));
      controller.close();
    },
  });
  expect(await send({ url }, body)).toMatchObject({ http: 200, bytes });
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(peak) * 1024;
}
