"""The page for those who stay inside Snowsight: written out, with the SQL that puts it there."""

from __future__ import annotations

from pathlib import Path

from backend.errors import Refused
from backend.warehouse import address as addresses
from backend.warehouse import administration
from backend.warehouse.address import Address

PAGE = Path(__file__).resolve().parents[3] / "assets" / "streamlit" / "loupe_results.py"
STAGE, NAME = "loupe_pages", "loupe_results"


def write(path: Path) -> None:
    """The page as a new file."""
    if path.exists() or not path.parent.is_dir():
        raise Refused(f"{path} is there already, or its folder is not; name a new file.")
    path.write_text(PAGE.read_text("utf-8"), "utf-8")


def script(path: Path, address: Address | None) -> list[str]:
    """What puts it into the schema that results are published into."""
    options = addresses.named(address) if address and address.dialect == "snowflake" else {}
    database, schema, house = (
        administration.quoted(options.get(name)) for name in ("database", "schema", "warehouse")
    )
    place = f"{database}.{schema}"
    file, name = (_in_quotes(one) for one in (str(path.resolve()), path.name))
    return [
        f"CREATE STAGE IF NOT EXISTS {place}.{STAGE};",
        f"PUT 'file://{file}' @{place}.{STAGE} AUTO_COMPRESS = FALSE OVERWRITE = TRUE;",
        f"CREATE STREAMLIT {place}.{NAME} FROM @{place}.{STAGE} MAIN_FILE = '{name}' "
        f"QUERY_WAREHOUSE = {house};",
    ]


def _in_quotes(text: str) -> str:
    """What stands between two quotes, where a backslash begins something else."""
    return text.replace("\\", "\\\\").replace("'", "\\'")
