"""What a training is told where nobody says anything follows the size of the pictures."""

from __future__ import annotations

import pytest

from backend.domain import Task
from backend.errors import Invalid
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import preflight, trainings, usual
from backend.projects import catalogue
from backend.storage.engine import Database


def project(database: Database, sides: list[int]) -> int:
    """Pictures of two classes in turn."""
    with database.write.begin() as session:
        made = catalogue.create(session, "cells", Task.CLASSIFY, ("good", "bad"))
        pictures = [
            NewImage(
                f"{at}.png", f"{at:064x}", side, side - 5, label=("good", "bad")[at % 2],
                labelled=True,
            )
            for at, side in enumerate(sides)
        ]  # fmt: skip
        images.add(session, made.id, pictures, "ann")
        return made.id


def test_small_pictures_are_learned_by_the_network_made_for_them(database: Database) -> None:
    small = project(database, [40, 60, 60, 57] * 10 + [640])
    with database.write.begin() as session:
        found = usual.parameters(session, small, "classifier")
        assert (found["variant"], found["image_size"], found["batch"]) == ("small", 64, 64)
        model = trainings.retrain(session, small, "classifier", parameters={"epochs": 2}).model
        assert model.parameters["variant"] == "small"
        assert model.parameters["image_size"] == 64
        assert model.parameters["epochs"] == 2
        named = usual.parameters(session, small, "classifier", "mobilenet")
        assert (named["variant"], named["image_size"]) == ("mobilenet", 224)


def test_large_pictures_are_learned_by_a_known_network(database: Database) -> None:
    large = project(database, [40, 640] * 8)
    with database.read.begin() as session:
        assert usual.parameters(session, large, "classifier")["variant"] == "resnet18"
        assert usual.parameters(session, large, "classifier", "small")["image_size"] == 96
        check = preflight.check(session, large, "classifier")
    assert not check.problems
    assert check.notes[0].startswith("There are no start weights for resnet18 on this machine")


def test_a_large_project_is_told_by_some_of_its_pictures(database: Database) -> None:
    made = project(database, [40] * usual.LOOKED_AT + [640] * 100)
    with database.read.begin() as session:
        assert usual.parameters(session, made, "classifier")["variant"] == "small"


def test_pictures_that_were_put_away_tell_nothing(database: Database) -> None:
    made = project(database, [40] * usual.LOOKED_AT + [640] * 20)
    with database.write.begin() as session:
        small = [f"{at}.png" for at in range(usual.LOOKED_AT)]
        images.put_away(session, list(images.ids(session, made, small).values()))
        assert usual.parameters(session, made, "classifier")["variant"] == "resnet18"


def test_the_small_network_is_refused_before_a_training_of_large_pictures(
    database: Database,
) -> None:
    large = project(database, [640] * 8)
    asked = {"variant": "small", "image_size": 224}
    with database.write.begin() as session:
        with pytest.raises(Invalid, match="small is for pictures of up to 96 pixels, not 224"):
            trainings.retrain(session, large, "classifier", parameters=asked)
        with pytest.raises(Invalid, match="turn must be from 0 to 180, not 'left'"):
            trainings.retrain(session, large, "classifier", parameters={"extra": {"turn": "left"}})


def test_what_to_expect_of_small_pictures_is_said(database: Database) -> None:
    small = project(database, [32] * 8)
    with database.read.begin() as session:
        check = preflight.check(session, small, "classifier")
    assert "the small network, which begins from nothing" in check.notes[0]
