"""Requests and replies of the researchers' API, and the creation of a study."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from desk.check_rules import Grade
from desk.checks import alarms
from studies.api.views import StageField
from studies.head_counts import HeadCount, by_arm, head_count, outcome_groups
from studies.models import Dataset, Participant, Study
from studies.models.settings import GROUPS, names_in


class StudySummary(serializers.Serializer[Study]):
    slug = serializers.CharField(
        help_text="the link name, which identifies the study in every call"
    )
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Study.State.choices)
    role = serializers.SerializerMethodField(help_text="your role: owner, edit, read, superuser")
    created_at = serializers.DateTimeField()
    public_url = serializers.CharField(help_text="the participants' link")

    def get_role(self, study: Study) -> str:
        user = self.context["request"].user
        if study.owner_id == user.pk:
            return "owner"
        if user.is_superuser:
            return "superuser"
        return "edit" if study.pk in self.context["editable"] else "read"


class StudyVersionInfo(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    hash = serializers.CharField(help_text="SHA-256 of the settings")


class Counts(serializers.Serializer[HeadCount]):
    """Live participants. Excluded ones are counted in `joined` and `excluded` only."""

    joined = serializers.IntegerField()
    done = serializers.IntegerField()
    under_way = serializers.IntegerField()
    abandoned = serializers.IntegerField()
    declined = serializers.IntegerField()
    withdrawn = serializers.IntegerField()
    excluded = serializers.IntegerField()


class ArmCounts(Counts):
    arm = serializers.CharField(help_text="the teacher; empty before assignment")
    is_open = serializers.BooleanField(help_text="whether new participants are assigned to it")


class StudyDetail(StudySummary):
    version = StudyVersionInfo(
        source="current_version", allow_null=True, help_text="null before the first participant"
    )
    settings = serializers.DictField(
        source="configuration", help_text="the settings that apply to sessions that begin now"
    )
    classes = serializers.ListField(
        source="dataset.class_names", child=serializers.CharField(), help_text="class 0 first"
    )
    max_participants = serializers.IntegerField(allow_null=True)
    target_per_arm = serializers.IntegerField(allow_null=True)
    counts = serializers.SerializerMethodField()
    arms = serializers.SerializerMethodField()

    @extend_schema_field(Counts)
    def get_counts(self, study: Study) -> Any:
        return Counts(head_count(outcome_groups(study))).data

    @extend_schema_field(ArmCounts(many=True))
    def get_arms(self, study: Study) -> Any:
        rows = by_arm(study, outcome_groups(study)).items()
        return [
            {"arm": arm, "is_open": arm in study.open_arms, **Counts(counts).data}
            for arm, counts in rows
        ]


class CheckLine(serializers.Serializer[Any]):
    """One check of the check list."""

    check = serializers.CharField(source="rule.key")
    title = serializers.CharField(source="rule.title")
    grade = serializers.ChoiceField(
        choices=[grade.value for grade in Grade],
        help_text="`question`: may spoil the study; `obstacle`: it cannot run",
    )
    sentence = serializers.CharField(source="finding.sentence")


class ChangedState(StudyDetail):
    questions = serializers.SerializerMethodField(
        help_text="if people can begin now: what of the check list may spoil the study"
    )

    @extend_schema_field(CheckLine(many=True))
    def get_questions(self, study: Study) -> Any:
        raised = alarms(study) if study.state in Study.TAKES_PART else []
        return CheckLine(raised, many=True).data


class ParticipantRow(serializers.ModelSerializer[Participant]):
    """Nothing identifies the person: platform ids are only in exports, on request."""

    participant = serializers.CharField(source="code", help_text="the random code")
    stage = StageField()
    version = serializers.IntegerField(source="version.number", help_text="of the study's settings")
    joined_at = serializers.DateTimeField(source="created_at")

    class Meta:
        model = Participant
        fields = [
            "participant", "purpose", "stage", "arm", "is_excluded", "version", "memory_span", "beta",
            "beta_mapping", "beta_inputs", "beta_fitted", "beta_fitted_low", "beta_fitted_high", "teaching_steps",
            "unique_examples", "first_seen_accuracy",
            "evaluation_accuracy", "evaluation_macro_recall", "evaluation_kappa", "teaching_gain", "joined_at",
            "consented_at", "teaching_started_at", "evaluation_started_at", "finished_at", "last_seen_at",
        ]  # fmt: skip
        read_only_fields = fields


class ParticipantFilter(serializers.Serializer[Any]):
    """The source of each field is a lookup."""

    stage = StageField(required=False)
    arm = serializers.CharField(max_length=20, required=False)
    version = serializers.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        source="version__number",
        help_text="of the study's settings",
    )
    purpose = serializers.ChoiceField(
        choices=Participant.Purpose.choices, required=False, help_text="live by default"
    )
    excluded = serializers.BooleanField(
        required=False, allow_null=True, default=None, source="is_excluded"
    )
    finished_after = serializers.DateTimeField(required=False, source="finished_at__gt")


class StateRequest(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Study.State.choices)


class StudyRequest(serializers.ModelSerializer[Study]):
    """A setting that is left out has its default; the learning rate is the one that the data set suggests."""

    dataset = serializers.CharField(
        max_length=100, help_text="the data set's name; its newest version is used"
    )

    class Meta:
        model = Study
        fields = ["slug", "title", "dataset", *(name for group in GROUPS for name in names_in(group))]  # fmt: skip


def create_study(values: dict[str, Any], owner: Any) -> Study:
    """Create a draft. Raises ValidationError with the errors by field."""
    dataset = newest_dataset(values.pop("dataset"), owner)
    study = Study(**values, dataset=dataset, owner=owner)
    study.full_clean()
    try:
        with transaction.atomic():
            study.save()
    except IntegrityError as error:
        # Another request has just taken the link name.
        raise ValidationError({"slug": "Study with this Link name already exists."}) from error
    return study


def newest_dataset(name: str, user: Any) -> Dataset:
    visible = Dataset.objects.visible_to(user)
    dataset = visible.filter(name=name).order_by("-version").first()
    if dataset is None:
        names = ", ".join(sorted(set(visible.values_list("name", flat=True)))) or "none yet"
        raise ValidationError({"dataset": f"There is no such data set. Data sets: {names}."})
    return dataset
