import fc from "fast-check";
import { expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { stableStringify } from "../base/json.ts";
import { defineSlice } from "./define-slice.ts";
import { InProcessEventBus } from "./event-bus.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import type { Snapshot } from "./snapshot.ts";

interface PageWritten {
  readonly type: "PageWritten";
  readonly page: unknown;
}

declare module "./event-map.ts" {
  interface EventMap {
    PageWritten: PageWritten;
  }
}

const createPageWritten = (page: unknown): PageWritten => ({ type: "PageWritten", page });

const lastPage = defineSlice<unknown>("lastPage", {
  initial: null,
  on: { PageWritten: (_last, { page }) => page },
});
const book = defineSlice<readonly unknown[]>("book", {
  initial: [],
  on: { PageWritten: (pages, { page }) => [...pages, page] },
});
const pageLog = logSlice("pageLog", "PageWritten");
const slices = [lastPage, book, pageLog];

test("Session.parse() restores any JSON state that serialize() wrote", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.dictionary(fc.string(), fc.string()),
      (pages, tags) => {
        const session = new Session({ tags });
        for (const slice of slices) session.register(slice);
        for (const page of pages) session.dispatch(createPageWritten(page));
        const text = session.serialize();
        const back = Session.parse(text, slices);
        expect(back.serialize()).toBe(text);
        expect(stableStringify(back.tags)).toBe(stableStringify(session.tags));
        for (const slice of slices) {
          expect(stableStringify(back.get(slice))).toBe(stableStringify(session.get(slice)));
        }
        expect(session.get(pageLog)).toHaveLength(pages.length);
      },
    ),
  );
});

type Step =
  | { readonly do: "dispatch"; readonly page: number }
  | { readonly do: "publish"; readonly page: number }
  | { readonly do: "snapshot" }
  | { readonly do: "restore"; readonly which: number }
  | { readonly do: "register" }
  | { readonly do: "reload" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("dispatch" as const), page: fc.nat(9) }),
  fc.record({ do: fc.constant("publish" as const), page: fc.nat(9) }),
  fc.record({ do: fc.constant("snapshot" as const) }),
  fc.record({ do: fc.constant("restore" as const), which: fc.nat() }),
  fc.record({ do: fc.constant("register" as const) }),
  fc.record({ do: fc.constant("reload" as const) }),
);

/** Expected content of a session with two state slices, one registered late, and a log. */
interface Model {
  pages: readonly number[];
  /** `null` until the slice is registered. */
  last: { readonly page: number | null } | null;
  log: readonly number[];
}

test("Session matches a simple model for any sequence of steps", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let session = new Session({ id: "s" }).register(book).register(pageLog);
      const model: Model = { pages: [], last: null, log: [] };
      const taken: { readonly snapshot: Snapshot; readonly model: Model }[] = [];
      for (const next of steps) {
        if (next.do === "dispatch" || next.do === "publish") {
          const event = { ...createPageWritten(next.page), sessionId: "s" };
          if (next.do === "dispatch") session.dispatch(event);
          else session.bus.publish(event);
          model.pages = [...model.pages, next.page];
          model.log = [...model.log, next.page];
          if (model.last) model.last = { page: next.page };
        } else if (next.do === "snapshot") {
          taken.push({ snapshot: session.snapshot(), model: { ...model } });
        } else if (next.do === "restore") {
          const chosen = taken[next.which % Math.max(1, taken.length)];
          if (!chosen) continue;
          session.restore(chosen.snapshot);
          model.pages = chosen.model.pages;
          if (model.last) model.last = chosen.model.last ?? { page: null };
        } else if (next.do === "register") {
          session.register(lastPage);
          model.last ??= { page: null };
        } else {
          const registered = model.last ? slices : [book, pageLog];
          session = Session.parse(session.serialize(), registered);
        }
        expect(session.get(book)).toEqual(model.pages);
        expect(session.get(lastPage)).toBe(model.last?.page ?? null);
        expect(session.get(pageLog).map(({ page }) => page)).toEqual(model.log);
      }
    }),
  );
});

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
});

test("Session.dispatch() accepts any event or throws a WinkError", () => {
  const events = fc.oneof(
    anything,
    fc.record({ type: anything, sessionId: anything }),
    fc.record({ type: fc.constant("PageWritten"), page: anything }),
    fc.object({ key: fc.constantFrom("type", "sessionId", "page", "__proto__", "toString") }),
  );
  fc.assert(
    fc.property(fc.array(events), (all) => {
      const session = new Session();
      for (const slice of slices) session.register(slice);
      for (const event of all) allowWinkErrors(() => session.dispatch(event as never));
      allowWinkErrors(() => Session.parse(session.serialize(), slices));
    }),
  );
});

test("Session reduces, ignores or reports any event on the bus, and never throws", () => {
  const events = fc.record(
    {
      type: fc.oneof(fc.constant("PageWritten"), fc.string()),
      sessionId: fc.oneof(fc.constant("s"), anything),
      page: anything,
    },
    { requiredKeys: ["type"] },
  );
  fc.assert(
    fc.property(fc.array(events), (all) => {
      const failures: unknown[] = [];
      const bus = new InProcessEventBus({ onError: (error) => void failures.push(error) });
      const session = new Session({ id: "s", bus }).register(book);
      for (const event of all) bus.publish(event as never);
      const mine = all.filter(({ type, sessionId }) => type === "PageWritten" && sessionId === "s");
      expect(session.get(book)).toHaveLength(mine.length);
      expect(failures).toEqual([]);
    }),
  );
});

test("Session.parse() reads any text or throws a WinkError", () => {
  const parts = fc.record(
    {
      version: fc.oneof(fc.constant(1), fc.jsonValue()),
      id: fc.oneof(fc.constant("s"), fc.jsonValue()),
      createdAt: fc.oneof(fc.constant("2030-01-01T12:00:00.000Z"), fc.jsonValue()),
      tags: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
      slices: fc.oneof(
        fc.record({ lastPage: fc.jsonValue(), book: fc.jsonValue(), pageLog: fc.jsonValue() }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  );
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    parts.map((saved) => JSON.stringify(saved)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      allowWinkErrors(() => {
        const session = Session.parse(text, slices);
        expect(Session.parse(session.serialize(), slices).serialize()).toBe(session.serialize());
      });
    }),
  );
});

function allowWinkErrors(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof WinkError)) throw error;
  }
}
