"""Fixtures that every room's tests may ask for."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import workers
from backend import settings
from backend.storage import engine, schema
from backend.storage.files import Files
from tests import databases, homes, real_data, warehouses

assert workers  # before torch, or in the tests' own process its threads spin while they wait
# Each worker would start a process that tells mlflow of its trainings: who tests that asks for it.
os.environ.setdefault("LOUPE_MLFLOW_URI", "off")


def _or_skip(name: str) -> Path:
    try:
        return real_data.weights() if name == "weights" else real_data.unpacked(name)
    except real_data.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def deeppcb() -> Path:
    """DeepPCB: `PCBData/`, with trainval.txt and test.txt."""
    return _or_skip("deeppcb")


@pytest.fixture(scope="session")
def facemask() -> Path:
    """Face masks: `annotations/`, `images_jpg/` and the split lists."""
    return _or_skip("facemask")


@pytest.fixture(scope="session")
def hripcb() -> Path:
    """HRIPCB sample: `images/`, `Annotations/` and `PCB_USED/`."""
    return _or_skip("hripcb")


@pytest.fixture(scope="session")
def photos() -> Path:
    """General photos: `coco/` with YOLO labels and `voc2012/`."""
    return _or_skip("photos")


@pytest.fixture(scope="session")
def cocoval() -> Path:
    """COCO photos; their boxes stand in `cocoval.json` beside this folder."""
    return _or_skip("cocoval")


@pytest.fixture(scope="session")
def cifar10() -> Path:
    """CIFAR-10 in class folders: `train/` and `test/`, with equal names in both."""
    return _or_skip("cifar10")


@pytest.fixture(scope="session")
def weights() -> Path:
    """The folder of start weights."""
    return _or_skip("weights")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own."""
    if databases.postgres_binaries() is None:
        pytest.skip("PostgreSQL's server programs are not installed.")
    # Outside pytest's own folder, which PostgreSQL's user may not enter.
    folder = Path(tempfile.mkdtemp(prefix="loupe-postgres-"))
    try:
        with databases.postgres_server(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of Snowflake's emulator."""
    with warehouses.emulator(tmp_path_factory.getbasetemp() / "emulator") as port:
        yield port


@pytest.fixture(params=["sqlite", "postgres", "snowflake"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> warehouses.Place:
    """An empty warehouse of each kind."""
    if request.param == "postgres":
        url = databases.new_postgres_database(request.getfixturevalue("postgres"))
        return warehouses.place("postgres", tmp_path, url)
    port = request.getfixturevalue("emulator") if request.param == "snowflake" else 0
    return warehouses.place(request.param, tmp_path, port=port)


@pytest.fixture(scope="session")
def emulator_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it says which files it has handed out."""
    return tmp_path_factory.getbasetemp() / "emulator" / "fetched.log"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[engine.Database]:
    """An empty database with all tables: SQLite, then PostgreSQL."""
    made = request.getfixturevalue(f"{request.param}_tables")
    opened = engine.open_url(_new(request, tmp_path, made))
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgres"])
def old_home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[engine.Database]:
    """The database of the first version that people had, upgraded: SQLite, then PostgreSQL."""
    url = _new(request, tmp_path)
    homes.lay(homes.FIRST, url)
    opened = engine.open_url(url)
    schema.prepare(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with all tables in which nothing is, to be copied: that is quicker than making it."""
    made = tmp_path_factory.mktemp("tables") / "loupe.db"
    _make_tables(f"sqlite:///{made}")
    return str(made)


@pytest.fixture(scope="session")
def postgres_tables(postgres: str) -> str:
    """A database with all tables in which nothing is, to be copied."""
    url = databases.new_postgres_database(postgres)
    _make_tables(url)
    return url.rsplit("/", 1)[1]


def _make_tables(url: str) -> None:
    opened = engine.open_url(url)
    engine.create_tables(opened)
    opened.close()


def _new(request: pytest.FixtureRequest, folder: Path, copied: str = "") -> str:
    """The URL of a database of the kind that is asked for: empty, or a copy."""
    if request.param == "sqlite":
        if copied:
            shutil.copy(copied, folder / "loupe.db")
        return f"sqlite:///{folder / 'loupe.db'}"
    return databases.new_postgres_database(request.getfixturevalue("postgres"), copied)


@pytest.fixture
def sqlite(tmp_path: Path, sqlite_tables: str) -> Iterator[engine.Database]:
    """An empty SQLite database with all tables, where the kind of database does not matter."""
    shutil.copy(sqlite_tables, tmp_path / "loupe.db")
    opened = engine.open_url(f"sqlite:///{tmp_path / 'loupe.db'}")
    yield opened
    opened.close()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """An empty store of files."""
    return Files(str(tmp_path / "files"), tmp_path / "cache")


# What takes longest begins first, or one process has it alone at the end.
LONGEST_FIRST = ("workers", "journeys", "contracts", "loaders", "app", "backend")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--shuffle SEED`: in an order that nobody chose, to see that no test needs another one."""
    parser.addoption("--shuffle", metavar="SEED", help="the tests in the random order of that seed")


@pytest.hookimpl(trylast=True)  # what is left out does not count
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files in the order of how long they take, or all in a random one."""
    if config.getoption("--shuffle"):
        _shuffle(items, config.getoption("--shuffle"))
        return
    slow = {item.path for item in items if _takes_long(item)}
    items.sort(key=lambda item: (item.path not in slow, _place(item.path)))


def _takes_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "again", "siege"))


def _place(path: Path) -> int:
    room = path.relative_to(Path(__file__).parent).parts[0]
    return LONGEST_FIRST.index(room) if room in LONGEST_FIRST else len(LONGEST_FIRST)


def _shuffle(items: list[pytest.Item], seed: str) -> None:
    """The files, and the tests of each; a file stays together, for what its tests share."""
    chance = random.Random(seed)
    chance.shuffle(items)
    files = list(dict.fromkeys(item.path for item in items))
    items.sort(key=lambda item: files.index(item.path))


@pytest.fixture
def mlflow_is_told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is written down for mlflow, as it is outside of tests."""
    monkeypatch.setenv("LOUPE_MLFLOW_URI", "default")
    settings.current.cache_clear()
    yield
    settings.current.cache_clear()
