"""The page where a person says who they are; the only one that needs no cookie."""

from __future__ import annotations

import html
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app import assets, house, login
from backend.errors import Denied

router = APIRouter()


@router.get("/login")
def page(at: house.At, next: str = "/") -> Response:
    """The form."""
    if not at.door.required:
        return RedirectResponse("/", 303)
    return HTMLResponse(_form(_inside(next)))


@router.post("/login")
def enter(
    request: Request,
    at: house.At,
    name: Annotated[str, Form(max_length=200)],
    password: Annotated[str, Form(max_length=1000)],
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Check the password and give the cookie."""
    address = request.client.host if request.client else ""
    try:
        cookie = at.door.enter(name, password, address)
    except login.TooOften as error:
        return HTMLResponse(_form(_inside(next), str(error), name), 429)
    except Denied as error:
        return HTMLResponse(_form(_inside(next), str(error), name), 403)
    answer = RedirectResponse(_inside(next), 303)
    answer.set_cookie(
        login.COOKIE,
        cookie,
        max_age=login.TWO_WEEKS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout")
def leave() -> Response:
    """Forget the cookie."""
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(login.COOKIE)
    return answer


def _inside(address: str) -> str:
    """An address of this site only."""
    safe = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if safe else "/"


def _form(next_: str, said: str = "", name: str = "") -> str:
    # The page is a file, so that no text of ours stands between Python strings.
    text = (assets.FOLDER / "login.html").read_text("utf-8")
    filled = {
        "STYLE": assets.url("style.css"),
        "THEME": assets.url("theme.js"),
        "NEXT": next_,
        "SAID": said,
        "NAME": name,
    }
    for word, value in filled.items():
        text = text.replace(f"{{{{{word}}}}}", html.escape(value))
    return text
