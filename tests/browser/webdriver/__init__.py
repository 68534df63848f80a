"""Firefox and Safari's engine, used by the same tests.

Playwright drives only browsers that it has built itself, and Chromium. Selenium drives all of them: here is as much of
Playwright's context, page and locator on top of it as our tests use, so that a test takes the same steps everywhere.
"""
