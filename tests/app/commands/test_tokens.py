"""Tokens are made, listed and ended at the command line."""

from __future__ import annotations

from tests.app.conftest import Said


def test_a_token_is_shown_once_listed_and_ended(loupe: Said) -> None:
    assert loupe("sample", "boards", "--images", "1")[0] == 0
    assert loupe("user", "add", "ana", "--role", "labeler", "--password", "correct horse")[0] == 0
    given = ("--user", "ana", "--role", "viewer", "--projects", "boards", "--expires", "7")
    made = loupe.json("token", "add", "line-3", *given)
    assert made["token"].startswith("loupe_")
    [listed] = loupe.json("token", "list")
    assert {**listed, "token": made["token"]} == made
    assert (listed["user"], listed["role"], listed["projects"]) == ("ana", "viewer", ["boards"])
    assert loupe.json("token", "uses") == []
    assert loupe("token", "remove", "line-3")[0] == 0
    assert loupe.json("token", "list") == []
    assert "There is no token yet" in loupe("token", "list")[1]


def test_without_accounts_a_token_is_the_owners_and_a_wider_one_is_refused(loupe: Said) -> None:
    code, told, warned = loupe("token", "add", "mine")
    assert (code, told.strip()[:6], "kept nowhere" in warned) == (0, "loupe_", True)
    assert "(the owner)" in loupe("token", "list")[1]
    code, _, said = loupe("token", "add", "other", "--user", "nobody")
    assert (code, "There is no user named 'nobody'." in said) == (1, True)
    code, _, said = loupe("token", "add", "other", "--projects", "nowhere")
    assert (code, "There is no project named 'nowhere'" in said) == (1, True)
