"""The documentation in the product: every file, as safe markup, with links that lead somewhere."""

import re

import pytest

from desk.documentation import DOCUMENTS, FOLDER, document, heading_anchor, site_url
from tests.people import browser_of, make_researcher, text_of


def test_every_file_of_the_documentation_is_a_page():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_of_a_document_leads_to_a_heading_that_is_there(name):
    for href in re.findall(r'href="([^"]*)"', document(name).body):
        if href.startswith(("http://", "https://")):
            continue
        if href.startswith("/admin/docs/images/"):
            continue
        path, _, anchor = href.partition("#")
        target = path.split("/")[3] if path else name
        assert not anchor or f'id="{anchor}"' in document(target).body, href


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_keeps_to_the_content_security_policy(name):
    assert not re.search(r"<script|<style|<[^>]+ style=|<[^>]+ on\w+=", document(name).body)


def test_links_lead_to_pages_of_the_product_or_nowhere():
    assert site_url("results.md#versions") == "/admin/docs/results/#versions"
    assert site_url("#start") == "#start"
    assert site_url("https://example.org/") == "https://example.org/"
    assert site_url("../.env.example") is None


@pytest.mark.django_db
def test_pictures_of_a_document_are_served_to_those_who_may_read_it(client):
    sources = {*re.findall(r'(?:src|href)="(/admin/docs/images/[^"]*)"', document("people").body)}
    assert len(sources) == 2
    browser = browser_of(make_researcher())
    for source in sources:
        reply = browser.get(source)
        assert (reply.status_code, reply["Content-Type"]) == (200, "image/png")
        assert b"".join(reply.streaming_content).startswith(b"\x89PNG")
        assert client.get(source).status_code == 302
    for name in ("nothing.png", "README.md", "..%2F..%2Fmanage.py"):
        assert browser.get(f"/admin/docs/images/{name}").status_code == 404


def test_a_file_name_as_a_link_is_read_as_the_title():
    assert (
        '(<a href="/admin/docs/datasets/">From images to a data set</a>)'
        in document("researchers").body
    )


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("The check list", "the-check-list"),
        ("Learning rate (`learners/paper.py`)", "learning-rate-learnerspaperpy"),
    ],
)
def test_anchors_are_those_of_the_files(heading, anchor):
    assert heading_anchor(heading) == anchor


@pytest.mark.django_db
def test_the_pages_list_and_show_the_documents():
    browser = browser_of(make_researcher())
    index = text_of(browser, "/admin/docs/")
    assert all(f'href="/admin/docs/{name}/"' in index for name in DOCUMENTS)
    page = text_of(browser, "/admin/docs/researchers/")
    assert page.count("<h1>") == 1
    assert "<table>" in page and 'id="payment"' in page
    assert browser.get("/admin/docs/nothing/").status_code == 404
