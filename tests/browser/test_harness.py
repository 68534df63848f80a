"""The watch over the pages itself: what must fail a test is seen."""

from playwright.sync_api import Browser

from .visitor import Visitor


def test_every_kind_of_fault_is_noticed(site, browser: Browser) -> None:
    context = browser.new_context()
    visitor = Visitor(context, f"http://127.0.0.1:{site.port}")
    # In the page's own world: what a test's script throws is not the page's error everywhere.
    context.add_init_script(
        'console.warn("a warning"); setTimeout(() => { throw new Error("a page error"); });'
    )
    visitor.open("/")
    visitor.page.evaluate(
        """() => {
          document.body.append(Object.assign(document.createElement("script"), { text: "1" }));
          return fetch("http://localhost:9/elsewhere").catch(() => {});
        }"""
    )
    visitor.wait_for_faults(
        "console warning: a warning",
        "page error: .*a page error",
        "refused by the policy: script-src",
        "refused by the policy: connect-src",
    )
    context.close()
