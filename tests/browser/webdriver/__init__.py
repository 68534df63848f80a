"""Firefox and Safari's engine under the tests' hands.

Playwright drives only browsers that it has built itself, and Chromium. What every browser speaks is WebDriver: here is
as much of Playwright's browser, context and page as our visitors use, so that a test takes the same steps everywhere.
"""
