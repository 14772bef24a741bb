"""Jobs as the pages poll them."""

from __future__ import annotations

from fastapi import APIRouter

from app import login

router = APIRouter(prefix="/api", dependencies=[login.SEES])
