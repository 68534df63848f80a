"""The published schema: valid, with examples that are true, and a server that keeps to it."""

import json

import hypothesis
import pytest
import schemathesis
from django.test import Client
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from tests.builders import make_study
from tests.generated_requests import CHECKED, SAME_EVERY_TIME
from tests.worker import Worker

OPERATIONS = {
    "join_study", "get_session", "answer", "begin_exposure", "end_exposure", "note_events", "get_withdrawal",
    "withdraw", "list_studies", "create_study", "list_checks", "get_study",
    "change_state", "list_participants", "export_table", "export_archive",
}  # fmt: skip
RESEARCHERS = "/api/v1/"


def published_schema() -> dict:
    reply = Client().get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    assert reply.status_code == 200
    return json.loads(reply.content)


def operations(schema: dict) -> dict[str, dict]:
    calls = [call for path in schema["paths"].values() for call in path.values()]
    return {call["operationId"]: call for call in calls}


def resolved(schema: dict, part: dict) -> dict:
    """A part of the schema that stands alone: references keep their meaning."""
    return {**part, "components": schema["components"]}


def assert_fits(schema: dict, part: dict, value) -> None:
    # OpenAPI 3.0 writes "or null" in a word of its own.
    text = json.dumps(resolved(schema, part)).replace('"nullable": true', '"x": 1')
    nullable = json.loads(text)
    for name, fields in nullable["components"]["schemas"].items():
        original = schema["components"]["schemas"][name].get("properties", {})
        for field in [f for f, spec in original.items() if spec.get("nullable")]:
            fields["properties"][field] = {"anyOf": [fields["properties"][field], {"type": "null"}]}
    Draft202012Validator(nullable).validate(value)


def test_the_calls_of_researchers_and_no_others_need_a_token():
    schema = published_schema()
    [(name, scheme)] = schema["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, calls in schema["paths"].items():
        for call in calls.values():
            wanted = [{name: []}] if path.startswith(RESEARCHERS) else None
            assert call.get("security") == wanted, path


def test_the_schema_is_valid_and_has_every_call():
    schema = published_schema()
    validate_schema(schema)
    assert set(operations(schema)) == OPERATIONS


def test_every_example_of_the_schema_fits_the_schema():
    schema, seen = published_schema(), 0
    for call in operations(schema).values():
        bodies = [call["requestBody"]] if "requestBody" in call else []
        for body in [*bodies, *call["responses"].values()]:
            for content in body.get("content", {}).values():
                for example in content.get("examples", {}).values():
                    assert_fits(schema, content["schema"], example["value"])
                    seen += 1
    assert seen > 25


def keys_of(value):
    """The shape of a reply: names all the way down, whatever the values."""
    if isinstance(value, dict):
        return {name: keys_of(part) for name, part in value.items()}
    return [keys_of(value[0])] if isinstance(value, list) and value else None


def example_values(call: dict, status: str) -> dict[str, dict]:
    [content] = call["responses"][status]["content"].values()
    return {name: example["value"] for name, example in content["examples"].items()}


@pytest.mark.django_db
def test_the_examples_look_like_real_replies():
    schema = published_schema()
    calls = operations(schema)
    worker = Worker(make_study(completion_code="C0FFEE", shows_references=True))
    real = {"201": worker.joined.json()}
    memory_position = worker.go_to("memory")["position"]
    real["memory"] = worker.get().json()
    real["exposure"] = worker.expose(memory_position).json()
    worker.go_to("teaching")
    real["references"], real["teaching"] = worker.get().json(), worker.get().json()
    del real["teaching"]["task"]["references"]
    real["feedback"] = worker.answer_current().json()
    worker.go_to("evaluation")
    worker.answer_current()
    real["evaluation"] = worker.get().json()

    states = list(example_values(calls["get_session"], "200").values())
    for example in states:
        kind = "references" if "references" in example["task"] else example["task"]["kind"]
        assert keys_of(example) == keys_of(real[kind])
    [joined] = example_values(calls["join_study"], "201").values()
    [exposure] = example_values(calls["begin_exposure"], "200").values()
    [feedback] = example_values(calls["answer"], "200").values()
    assert keys_of(joined) == keys_of(real["201"])
    assert keys_of(exposure) == keys_of(real["exposure"])
    shape = keys_of(real["feedback"])
    shape["task"]["last_feedback"] = keys_of(feedback)["task"]["last_feedback"]
    assert keys_of(feedback) == shape


@pytest.mark.django_db
def test_real_replies_of_a_whole_session_fit_the_schema():
    schema = published_schema()
    call = operations(schema)["answer"]
    [reply_schema] = [c["schema"] for c in call["responses"]["200"]["content"].values()]
    worker = Worker(make_study())
    state = worker.get().json()
    while state["task"]["kind"] != "done":
        reply = worker.answer_task(state)
        assert_fits(schema, reply_schema, reply.json())
        state = reply.json()


def test_no_generated_request_breaks_the_server(postgres_site):
    """Postgres is the stricter of the two databases: what it takes, SQLite takes."""
    slug = postgres_site.make_study()
    tokens = []
    for stage in ("consent", "memory", "teaching", "evaluation", "done"):
        worker = Worker(slug, postgres_site.client())
        worker.go_to(stage)
        tokens.append(worker.token)
    schema = schemathesis.openapi.from_url(
        f"http://127.0.0.1:{postgres_site.port}/api/schema/",
        headers={"Accept": "application/vnd.oai.openapi+json"},
    )
    for operation in (result.ok() for result in schema.get_all_operations()):
        if not operation.path.startswith(RESEARCHERS):
            attack(operation, slug, tokens)


def attack(operation, slug: str, tokens: list[str]) -> None:
    """Generated requests, most of them at real sessions: half by the schema, half against it."""
    modes = [schemathesis.GenerationMode.POSITIVE]
    # Any text is a token: a call without a body has nothing to contradict.
    if operation.body:
        modes.append(schemathesis.GenerationMode.NEGATIVE)

    def with_real_address(case, token):
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = slug
        elif token:
            case.path_parameters["token"] = token

    for mode in modes:

        @hypothesis.settings(SAME_EVERY_TIME, max_examples=20)
        @hypothesis.given(
            case=operation.as_strategy(generation_mode=mode),
            token=hypothesis.strategies.sampled_from([*tokens, None]),
        )
        def run(case, token):
            with_real_address(case, token)
            case.call_and_validate(checks=CHECKED)

        run()
