import { Component, type ComponentChild, h } from "preact";
import { escapeInvisible } from "../../model/preview.ts";

/** Parts of a list or an object that are shown at once. */
const PAGE = 100;

interface JsonProps {
  readonly value: unknown;
  readonly name?: string | undefined;
  /** How many levels are open at first. */
  readonly open?: number | undefined;
}

interface JsonState {
  readonly isOpen: boolean;
  readonly shown: number;
}

/** Shows any JSON, with folds. Closed parts are not in the document. */
export class JsonView extends Component<JsonProps, JsonState> {
  override state: JsonState = { isOpen: (this.props.open ?? 2) > 0, shown: PAGE };

  override render(
    { value, name, open = 2 }: JsonProps,
    { isOpen, shown }: JsonState,
  ): ComponentChild {
    if (typeof value !== "object" || value === null) {
      return h("div", { class: "json" }, renderName(name), renderScalar(value));
    }
    const parts = Object.entries(value);
    const brackets = Array.isArray(value) ? "[]" : "{}";
    if (parts.length === 0) return h("div", { class: "json" }, renderName(name), brackets);
    const toggle = () => this.setState({ isOpen: !isOpen });
    const more = parts.length - shown;
    return h("div", { class: "json" }, [
      h(
        "button",
        { type: "button", class: "json-fold", "aria-expanded": isOpen, onClick: toggle },
        [
          h("span", { "aria-hidden": "true" }, isOpen ? "▾ " : "▸ "),
          renderName(name),
          h(
            "span",
            { class: "json-size" },
            `${brackets[0]}${isOpen ? "" : `${parts.length}${brackets[1]}`}`,
          ),
        ],
      ),
      isOpen &&
        h("div", { class: "json-parts" }, [
          parts.slice(0, shown).map(([key, part]) =>
            h(JsonView, {
              key,
              name: Array.isArray(value) ? undefined : key,
              value: part,
              open: open - 1,
            }),
          ),
          more > 0 &&
            h(
              "button",
              {
                type: "button",
                class: "quiet",
                onClick: () => this.setState({ shown: shown + PAGE * 5 }),
              },
              `${more} more`,
            ),
        ]),
    ]);
  }
}

function renderName(name: string | undefined): ComponentChild {
  return name === undefined
    ? null
    : h("span", { class: "json-name" }, `${escapeInvisible(name)}: `);
}

function renderScalar(value: unknown): ComponentChild {
  if (typeof value !== "string") return h("span", { class: "json-value" }, String(value));
  const isLong = value.length > 120 || value.includes("\n");
  return isLong
    ? h("pre", { class: "json-text" }, escapeInvisible(value))
    : h("span", { class: "json-string" }, `"${escapeInvisible(value)}"`);
}
