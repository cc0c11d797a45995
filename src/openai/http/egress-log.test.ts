import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EgressLog, type EgressNote, type LoggedCall } from "./egress-log.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");

function createLog() {
  const log = new EgressLog();
  const begin = (endpoint: string, body: LoggedCall["body"] = null, note?: EgressNote) => {
    const [method = "", path = ""] = endpoint.split(" ");
    return log.begin({ method: method as LoggedCall["method"], path, body }, note);
  };
  const readStored = () => {
    const { requests, verdict } = log.close()();
    return [requests.map(({ stored }) => stored), verdict];
  };
  return { log, begin, readStored };
}

describe("a request in the report", () => {
  test("has the size and the hash of its body", () => {
    const { log, begin } = createLog();
    begin("POST /responses/compact", '{"ü":1}');
    begin("POST /responses/input_tokens", new TextEncoder().encode("{}"));
    begin("GET /containers/c");
    expect(log.close()().requests).toMatchObject([
      { endpoint: "POST /responses/compact", bytes: 8, sha256: hash('{"ü":1}') },
      { endpoint: "POST /responses/input_tokens", bytes: 2, sha256: hash("{}") },
      { endpoint: "GET /containers/c", bytes: 0, sha256: hash(""), files: [], toolOutputs: [] },
    ]);
  });

  test("has the size of an uploaded file, and the digest that its caller knows", () => {
    const { log, begin } = createLog();
    const files = [{ mount: "data", path: "a.txt", sha256: hash("a") }];
    const form = [["purpose", "user_data"] as const, ["file", new File(["abc"], "a")] as const];
    begin("POST /files", form, { digest: () => "known", files: () => files });
    begin("POST /containers/c/files", [["purpose", "x"]]);
    expect(log.close()().requests).toMatchObject([
      { bytes: 3, sha256: "known", files },
      { bytes: 0, sha256: hash(""), files: [] },
    ]);
  });

  test("has the tool outputs that no earlier request with the conversation had", () => {
    const { log, begin } = createLog();
    log.addToolOutputs(["a", "b"]);
    begin("POST /responses", "{}"); // runs code, without the conversation
    begin("POST /responses/input_tokens", "{}", { hasHistory: true });
    log.addToolOutputs(["b", "c"]);
    begin("POST /responses", "{}", { hasHistory: true });
    begin("POST /responses", "{}", { hasHistory: true });
    const outputs = log
      .close()()
      .requests.map(({ toolOutputs }) => toolOutputs);
    expect(outputs).toEqual([[], ["a", "b"], ["c"], []]);
  });
});

describe("the verdict", () => {
  test("is that nothing is stored without requests, or with requests that are not stored", () => {
    expect(createLog().readStored()).toEqual([[], "nothing stored"]);
    const { begin, readStored } = createLog();
    begin("POST /responses", "{}", { isStored: false });
    begin("POST /responses/compact", "{}");
    begin("GET /responses/r");
    begin("POST /responses/r/cancel");
    expect(readStored()).toEqual([[false, false, false, false], "nothing stored"]);
  });

  test("counts a response as stored unless it is known not to be", () => {
    const { begin, readStored } = createLog();
    begin("POST /responses", "{}");
    expect(readStored()).toEqual([[true], "stored at the provider"]);
  });

  test("counts containers and the requests to them until they are deleted", () => {
    const { log, begin, readStored } = createLog();
    log.complete(begin("POST /containers", "{}"), { id: "c 1" });
    begin("POST /containers/c%201/files", [["file", new File(["a"], "a")]]);
    begin("POST /responses", "{}", { isStored: false, containerIds: ["c 1"] });
    begin("POST /responses", "{}", { isStored: false, hasHistory: true });
    log.onContainersUsed(["c 1"]);
    log.complete(begin("DELETE /containers/c%201"));
    expect(readStored()).toEqual([[false, false, false, false, false], "nothing stored"]);
  });

  test("counts the requests to a container that was not deleted", () => {
    const { log, begin, readStored } = createLog();
    log.complete(begin("POST /containers", "{}"), { id: "c" });
    begin("POST /responses", "{}", { isStored: false, hasHistory: true });
    log.onContainersUsed(["c"]);
    log.fail(begin("DELETE /containers/c"), { status: 403 });
    log.fail(begin("DELETE /containers/c"), new Error("network"));
    expect(readStored()).toEqual([[true, true, false, false], "stored at the provider"]);
  });

  test("takes a container or file that the provider does not have any more as deleted", () => {
    const { log, begin, readStored } = createLog();
    begin("POST /containers/c/files", "{}");
    log.fail(begin("DELETE /containers/c"), { status: 404 });
    log.complete(begin("POST /files", "{}"), { id: "f" });
    log.complete(begin("DELETE /files/f"));
    expect(readStored()).toEqual([[false, false, false, false], "nothing stored"]);
  });

  test("counts a creation without an answer, but no request that was rejected", () => {
    const { log, begin, readStored } = createLog();
    log.fail(begin("POST /containers", "{}"), { status: 503 });
    log.complete(begin("POST /files", "{}"), { object: "file" }); // without an id
    log.fail(begin("POST /responses", "{}"), { status: 429 });
    log.fail(begin("POST /containers/c/files", "{}"), { status: 415 });
    expect(readStored()).toEqual([[true, true, false, false], "stored at the provider"]);
  });

  test("does not change when the evaluation has ended", () => {
    const { log, begin } = createLog();
    const created = begin("POST /containers", "{}");
    log.complete(created, { id: "c" });
    const createReport = log.close();
    expect(begin("DELETE /containers/c")).toBeNull();
    log.complete(created, { id: "d" });
    log.fail(created, { status: 400 });
    log.complete(null);
    expect(createReport()).toMatchObject({ requests: [{}], verdict: "stored at the provider" });
  });
});
