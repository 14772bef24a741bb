"""A token asks in a person's name, never for more, and never after it has ended."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.domain import Bearer, Person, Role
from backend.errors import NotFound, Refused
from backend.projects import catalogue, members, people, tokens
from backend.storage import doors
from backend.storage.engine import Database
from backend.storage.tables import TokenRow
from backend.storage.types import now

PASSWORD = "correct horse"
SENT = ("train", "project 1", "key", "d" * 64)
OWNER = Person("root", Role.ADMIN)


@pytest.fixture(autouse=True)
def ana(database: Database) -> None:
    """A labeler, and an admin besides."""
    with database.write.begin() as session:
        people.add(session, "ana", Role.LABELER, PASSWORD)
        people.add(session, "ada", Role.ADMIN, PASSWORD)


def asks(session: Session, secret: str, owner: Person | None = None) -> Bearer | None:
    return tokens.find(session, tokens.digest(secret), owner)


def test_the_secret_is_kept_nowhere(database: Database) -> None:
    with database.write.begin() as session:
        _, secret = tokens.add(session, "line 3", "ana")
        row = session.scalars(select(TokenRow)).one()
        assert secret not in repr(vars(row))
        found = asks(session, secret)
        assert found is not None
        assert (found.name, found.role, found.projects) == ("ana", Role.LABELER, None)
        wrong = [asks(session, one) for one in ("", "x", secret[:-1] + "~", secret + "a")]
        assert wrong == [None] * 4


def test_a_token_is_never_wider_than_its_person_is_now(database: Database) -> None:
    with database.write.begin() as session:
        with pytest.raises(Refused, match="labeler"):
            tokens.add(session, "wide", "ana", Role.ADMIN)
        _, secret = tokens.add(session, "line 3", "ada")
        people.set_role(session, "ana", Role.ADMIN)
        people.set_role(session, "ada", Role.VIEWER)
        found = asks(session, secret)
        assert found is not None
        assert (found.role, found.rank) == (Role.VIEWER, Role.VIEWER)


def test_it_ends_by_its_time_by_its_person_and_by_name(database: Database) -> None:
    with database.write.begin() as session:
        made = {name: tokens.add(session, name, "ana", days=1)[1] for name in ("a", "b", "c")}
        past = now() - timedelta(minutes=1)
        session.execute(update(TokenRow).filter_by(name="a").values(expires=past))
        tokens.end(session, "b")
        assert [bool(asks(session, one)) for one in made.values()] == [False, False, True]
        people.remove(session, "ana")
    with database.write.begin() as session:
        people.add(session, "ana", Role.ADMIN, PASSWORD)
        assert asks(session, made["c"]) is None
        assert tokens.everything(session) == []
        with pytest.raises(NotFound, match="'b'"):
            tokens.end(session, "b")
        assert tokens.add(session, "b", "ana")[0].name == "b"


def test_the_owners_token_counts_only_where_there_are_no_accounts(database: Database) -> None:
    with database.write.begin() as session:
        _, secret = tokens.add(session, "mine")
        assert asks(session, secret) is None
        found = asks(session, secret, OWNER)
        assert found is not None
        assert (found.name, found.role) == ("root", Role.ADMIN)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": " "}, "printable"),
        ({"name": "a\nb"}, "printable"),
        ({"name": "there"}, "already"),
        ({"name": "x", "person": "nobody"}, "nobody"),
        ({"name": "x", "days": -1}, "expires"),
    ],
)
def test_what_makes_no_sense_is_refused(
    database: Database, given: dict[str, Any], said: str
) -> None:
    with database.write.begin() as session:
        tokens.add(session, "there", "ana")
        with pytest.raises((Refused, NotFound), match=said):
            tokens.add(session, **{"person": "ana", **given})


@pytest.mark.parametrize("role", list(Role))
def test_it_enters_the_projects_that_its_person_enters_and_of_those_the_named(
    database: Database, role: Role
) -> None:
    with database.write.begin() as session:
        open_, closed, other = (catalogue.create(session, name).id for name in "abc")
        members.choose(session, closed, [])
        everyone = {"ana": {open_, other}, "ada": {open_, closed, other}}
    for person, may in everyone.items():
        most = Role.ADMIN if person == "ada" else Role.LABELER
        least = min(role, most, key=tokens.RANKS.index)
        for named in (None, [], [open_], [closed], [open_, closed, 999]):
            asker = Bearer(person, least, 1, most, None if named is None else frozenset(named))
            with database.read(info=doors.asked_by(asker)) as session:
                seen = {one.project.id for one in catalogue.summaries(session)}
            assert seen == (may if named is None else may & {*named}), (person, named)


def test_the_same_key_sent_at_once_counts_once(database: Database) -> None:
    with database.write.begin() as session:
        token, _ = tokens.add(session, "line 3", "ana")
    ana, together = Bearer("ana", Role.LABELER, token.id), threading.Barrier(4)

    def send(_: int) -> str:
        together.wait(60)
        try:
            with database.write.begin() as session:
                if (before := tokens.earlier(session, ana, "key", "d" * 64)) is not None:
                    return before
                tokens.used(session, ana, *SENT).answer = "done"
                return "did it"
        except IntegrityError:
            with database.read.begin() as session:
                return tokens.earlier(session, ana, "key", "d" * 64) or "lost"

    with ThreadPoolExecutor(4) as threads:
        said = list(threads.map(send, range(4)))
    assert sorted(said) == ["did it", "done", "done", "done"]
    with database.write.begin() as session:
        [use] = tokens.uses(session)
        assert (use.token, use.person, use.operation) == ("line 3", "ana", "train")
        with pytest.raises(Refused, match="another key"):
            tokens.earlier(session, ana, "key", "e" * 64)
        tokens.used(session, ana, "train", "project 1", "", "d" * 64)
        tokens.used(session, ana, "train", "project 2", "", "d" * 64)
        assert [one.subject for one in tokens.uses(session, "line 3", 2)] == [
            "project 2",
            "project 1",
        ]
        assert tokens.uses(session, "line 4") == []
