import { Component, type ComponentChild, createRef, h } from "preact";
import { KEYS } from "./handle-key.ts";

interface HelpProps {
  readonly onClose: () => void;
}

/** The keys of the page, above it. Its button has the focus while it is open. */
export class HelpDialog extends Component<HelpProps> {
  readonly #close = createRef<HTMLButtonElement>();
  #before: Element | null = null;

  override componentDidMount(): void {
    this.#before = document.activeElement;
    this.#close.current?.focus();
  }

  override componentWillUnmount(): void {
    if (this.#before instanceof HTMLElement) this.#before.focus();
  }

  override render({ onClose }: HelpProps): ComponentChild {
    return h("div", { class: "backdrop", onClick: onClose }, [
      h(
        "div",
        {
          class: "help",
          role: "dialog",
          "aria-modal": "true",
          "aria-label": "Keys",
          onClick: (event: Event) => event.stopPropagation(),
        },
        [
          h("h2", null, "Keys"),
          h(
            "dl",
            null,
            KEYS.map(([key, meaning]) =>
              h("div", { key }, h("dt", null, h("kbd", null, key)), h("dd", null, meaning)),
            ),
          ),
          h("button", { type: "button", ref: this.#close, onClick: onClose }, "Close"),
        ],
      ),
    ]);
  }
}
