"""Accounts: roles and passwords."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from backend.domain import Person, Role
from backend.errors import Denied, Refused
from backend.projects import catalogue, logins, members, people
from backend.storage.engine import Database
from backend.storage.tables import LoginRow, PersonRow
from backend.storage.types import now


def test_the_right_password_enters(database: Database) -> None:
    with database.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
    with database.read() as session:
        assert people.enter(session, "ana", "copper wire") == Person("ana", Role.LABELER)


@pytest.mark.parametrize(("name", "password"), [("ana", "wrong one"), ("ben", "copper wire")])
def test_a_wrong_name_and_a_wrong_password_read_alike(
    sqlite: Database, name: str, password: str
) -> None:
    with sqlite.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
        with pytest.raises(Denied, match=r"^The name or the password is wrong\.$"):
            people.enter(session, name, password)


def test_a_password_is_never_stored(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
        stored = session.scalars(select(PersonRow.password)).one()
    assert stored.startswith("$argon2id$")
    assert "copper" not in stored


def test_a_short_password_is_refused(sqlite: Database) -> None:
    with sqlite.write.begin() as session, pytest.raises(Refused, match="8 characters"):
        people.add(session, "ana", Role.ADMIN, "short")


def test_the_last_admin_stays_admin(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        people.add(session, "ana", Role.ADMIN, "copper wire")
        with pytest.raises(Refused, match="only admin"):
            people.set_role(session, "ana", Role.VIEWER)
        people.add(session, "ben", Role.ADMIN, "copper wire")
        assert people.set_role(session, "ana", Role.VIEWER).role == Role.VIEWER


def test_the_last_admin_is_not_removed(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        people.add(session, "ana", Role.ADMIN, "copper wire")
        people.add(session, "ben", Role.LABELER, "copper wire")
        with pytest.raises(Refused, match="only admin"):
            people.remove(session, "ana")
        people.set_role(session, "ben", Role.ADMIN)
        people.remove(session, "ana")
        assert people.everyone(session) == [Person("ben", Role.ADMIN)]


def test_a_namesake_of_a_removed_person_is_no_member(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
        project = catalogue.create(session, "line 3")
        members.choose(session, project.id, ["ana"])
        people.remove(session, "ana")
        members.leave(session, "ana")
        assert members.chosen(session, project.id) == ()


def test_logins_are_listed_and_ended(database: Database) -> None:
    with database.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
        kept, ended = (logins.begin(session, "ana", "10.0.0.1", name) for name in ("a", "b"))
        assert {one.browser for one in logins.of(session, "ana")} == {"a", "b"}
        logins.end(session, logins.digest(ended))
        assert [one.browser for one in logins.of(session, "ana")] == ["a"]
        assert logins.find(session, logins.digest(kept)) is not None
        assert logins.find(session, logins.digest(ended)) is None


def test_the_secret_of_a_login_is_not_stored(database: Database) -> None:
    with database.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
        secret = logins.begin(session, "ana")
        assert session.scalars(select(LoginRow.id)).one() not in ("", secret)


def test_a_new_password_and_a_closed_account_end_logins(database: Database) -> None:
    with database.write.begin() as session:
        for name in ("ana", "ben"):
            people.add(session, name, Role.LABELER, "copper wire")
        stays, _, bens = (logins.begin(session, name) for name in ("ana", "ana", "ben"))
        people.set_password(session, "ana", "another wire", logins.digest(stays))
        assert [one.id for one in logins.of(session, "ana")] == [logins.digest(stays)]
        people.remove(session, "ana")
        assert session.scalars(select(LoginRow.id)).all() == [logins.digest(bens)]


def test_a_login_ends_by_itself(database: Database) -> None:
    with database.write.begin() as session:
        people.add(session, "ana", Role.LABELER, "copper wire")
        old = logins.digest(logins.begin(session, "ana"))
        session.execute(update(LoginRow).values(began=now() - logins.LASTS - timedelta(hours=1)))
        assert (logins.find(session, old), logins.of(session, "ana")) == (None, [])
        logins.begin(session, "ana")
        assert len(session.scalars(select(LoginRow.id)).all()) == 1
