"""The URLs of a participant's images."""

import pytest
from django.test.utils import override_script_prefix
from django.urls import reverse

from studies.models import Participant
from studies.stages import image_url


@pytest.mark.parametrize("prefix", ["/", "/lab/", "/TOKEN/NAME/", "/a lab/"])
@pytest.mark.parametrize("name", ["bicycle", "two-words", "0a1b"])
def test_it_is_what_the_routes_say_under_any_prefix(prefix, name):
    participant = Participant()
    participant.token = "Some_token-1"
    with override_script_prefix(prefix):
        routed = reverse("image", args=[participant.token, name])
        assert image_url(participant, name) == routed
