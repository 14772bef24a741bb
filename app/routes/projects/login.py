"""The page where a person says who they are; the only one that needs no cookie."""

from __future__ import annotations

import html
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app import assets, premises
from app.edge import guessing, login, pools
from backend.errors import Denied, Unavailable

router = APIRouter(route_class=pools.Pooled)


@router.get("/login")
def page(at: premises.At, next: str = "/") -> Response:
    """The form."""
    if not at.door.required:
        return RedirectResponse("/", 303)
    return HTMLResponse(_form(at, _inside(next)))


@router.post("/login")
async def enter(
    request: Request,
    at: premises.At,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1000)] = "",
    token: Annotated[str, Form(max_length=200)] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Check the password, or the token of this start, and give the cookie."""
    wanted = _inside(next)
    if not at.door.accounts:
        return _with_token(request, at, token, wanted)
    try:
        cookie = await at.door.enter(name, password, login.browser(request))
    except guessing.TooOften as error:
        wait = {"Retry-After": str(error.seconds)}
        return HTMLResponse(_form(at, wanted, str(error), name), 429, wait)
    except Unavailable as error:
        return HTMLResponse(_form(at, wanted, str(error), name), 503)
    except Denied as error:
        return HTMLResponse(_form(at, wanted, str(error), name), 403)
    answer = RedirectResponse(wanted, 303)
    login.give_cookie(answer, cookie, request.url.scheme)
    return answer


@router.post("/logout")
def leave(request: Request, at: premises.At) -> Response:
    """End the login, here and in the database."""
    at.door.leave(request.cookies.get(login.COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(login.COOKIE)
    return answer


def _with_token(request: Request, at: premises.Premises, token: str, wanted: str) -> Response:
    cookie = at.door.show(token) if at.door.required else ""
    if not cookie:
        return HTMLResponse(_form(at, wanted, "That is not the token of this start."), 403)
    answer = RedirectResponse(wanted, 303)
    login.give_cookie(answer, cookie, request.url.scheme, None)
    return answer


def _inside(address: str) -> str:
    """An address of this site only."""
    safe = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if safe else "/"


def _form(at: premises.Premises, next_: str, said: str = "", name: str = "") -> str:
    # The page is a file, so that no text of ours stands between Python strings.
    page = "login.html" if at.door.accounts else "token.html"
    text = (assets.FOLDER / page).read_text("utf-8")
    filled = {
        "STYLE": assets.url("styles/style.css"),
        "THEME": assets.url("common/theme.js"),
        "NEXT": next_,
        "SAID": said,
        "NAME": name,
    }
    for word, value in filled.items():
        text = text.replace(f"{{{{{word}}}}}", html.escape(value))
    return text
