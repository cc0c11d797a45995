import { describe, expect, test } from "vitest";
import { createAnnotations } from "./create-annotations.ts";

const file = { id: "cfile_1", containerId: "cntr_1", path: "/mnt/data/owls.txt" };
const newer = { ...file, id: "cfile_2" };
const passage = { type: "file", fileId: "file-1", filename: "owls.md" } as const;
const page = { type: "url", url: "https://owls.example", title: "Owls" } as const;
const none = { hits: [], files: [] };

describe("createAnnotations()", () => {
  test("cites the hits that the model selects", () => {
    const hits = [passage, page];
    expect(createAnnotations("Owls.", [{ hit: 0 }, { hit: 1 }], { hits, files: [] })).toEqual([
      { type: "file_citation", file_id: "file-1", filename: "owls.md", index: 5 },
      {
        type: "url_citation",
        url: "https://owls.example",
        title: "Owls",
        start_index: 0,
        end_index: 5,
      },
    ]);
  });

  test("cites the whole answer for a page whose address it does not contain", () => {
    const text = "Owls are quiet.";
    const [annotation] = createAnnotations(text, [{ hit: 0 }], { hits: [page], files: [] });
    const { start_index: start, end_index: end } = annotation ?? {};
    expect(text.slice(Number(start), Number(end))).toBe(text);
  });

  test("has no span for a file that the answer does not link to, like the API", () => {
    const about = { hits: [], files: [file] };
    expect(createAnnotations("Owls.", [{ file: "owls.txt" }], about)).toMatchObject([
      { file_id: "cfile_1", start_index: 0, end_index: 0 },
    ]);
  });

  test("uses the model's position, or the position of the address", () => {
    const about = { hits: [page], files: [] };
    const text = "See https://owls.example now.";
    expect(createAnnotations(text, [{ hit: 0 }], about)).toMatchObject([
      { start_index: 4, end_index: 24 },
    ]);
    expect(createAnnotations(text, [{ hit: 0, at: [1, 2] }], about)).toMatchObject([
      { start_index: 1, end_index: 2 },
    ]);
  });

  test("ignores citations of missing hits and files", () => {
    expect(createAnnotations("Owls.", [{ hit: 0 }, { file: "owls.txt" }], none)).toEqual([]);
  });

  test("cites the newest file with a name, by name or by path", () => {
    const about = { hits: [], files: [file, newer] };
    for (const name of ["owls.txt", "/mnt/data/owls.txt"])
      expect(createAnnotations("Owls.", [{ file: name, at: [0, 4] }], about)).toEqual([
        {
          type: "container_file_citation",
          container_id: "cntr_1",
          file_id: "cfile_2",
          filename: "owls.txt",
          start_index: 0,
          end_index: 4,
        },
      ]);
  });

  test("adds every linked file, only once", () => {
    const about = { hits: [], files: [file] };
    const text = "[Owls](sandbox:/mnt/data/owls.txt)";
    const linked = [{ file_id: "cfile_1", start_index: 7, end_index: 33 }];
    expect(createAnnotations(text, [], about)).toMatchObject(linked);
    expect(createAnnotations(text, [{ file: "owls.txt" }], about)).toMatchObject(linked);
    expect(createAnnotations("Owls.", [], about)).toEqual([]);
  });
});
