"""All that the environment may set, read once at the start of a process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend import prices
from backend.errors import Invalid, Unavailable


def _prices(text: str) -> str:
    """Refuse what is no price."""
    prices.read([text])
    return text


class Settings(BaseSettings):
    """Every setting, with the environment's prefix LOUPE_; the guide lists them all."""

    model_config = SettingsConfigDict(
        env_prefix="LOUPE_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    home: Annotated[Path, AfterValidator(Path.absolute)] = Field(
        Path.home() / ".loupe", description="folder of the database, the files and the caches"
    )
    database_url: SecretStr = Field(
        SecretStr(""), description="operational database; default: SQLite in the home folder"
    )
    warehouse_url: SecretStr = Field(
        SecretStr(""),
        description="warehouse into which results are published; default: none",
    )
    snowflake_role: str = Field("", description="role to take on in Snowflake")
    snowflake_warehouse: str = Field("", description="Snowflake's warehouse (its computers) to use")
    snowflake_password: SecretStr = Field(SecretStr(""), description="password for Snowflake")
    snowflake_private_key_file: Path | None = Field(
        None, description="file with the private key of a key pair for Snowflake"
    )
    snowflake_private_key_passphrase: SecretStr = Field(
        SecretStr(""), description="passphrase of that file"
    )
    snowflake_oauth_token: SecretStr = Field(SecretStr(""), description="OAuth token for Snowflake")
    snowflake_access_token: SecretStr = Field(
        SecretStr(""), description="programmatic access token for Snowflake"
    )
    snowflake_access_token_file: Path | None = Field(
        None, description="file with a programmatic access token for Snowflake"
    )
    load_rows: int = Field(500_000, ge=1, description="rows that wait before they are published")
    load_minutes: float = Field(15.0, gt=0, description="minutes that a change waits at most")
    files_url: str = Field(
        "", description="where images and weights go (fsspec URL); default: files/ in the home"
    )
    weights_dir: Path | None = Field(None, description="folder with start weights (*.pt, *.pth)")
    ray_address: str = Field(
        "",
        description="an existing Ray cluster, its token in RAY_AUTH_TOKEN or ~/.ray/auth_token; "
        "default: a local one",
    )
    ray_open: bool = Field(False, description="join a Ray cluster that asks nobody for a token")
    node_prices: Annotated[str, AfterValidator(_prices)] = Field(
        "", description="what an hour of a node costs by type or name, g5.xlarge=1.20,node=0.30"
    )
    node_minutes: float = Field(
        30.0, gt=0, description="minutes that a job waits for nodes that a Ray cluster starts"
    )
    mlflow_uri: str = Field(
        "default", description="mlflow tracking store; 'default': SQLite in the home; 'off': none"
    )
    tensorboard_dir: Path | None = Field(
        None, description="folder in which trainings leave event files for TensorBoard"
    )
    cache_gb: float = Field(10.0, gt=0, description="bound of the thumbnail and tile cache, GB")
    max_megapixels: int = Field(200, ge=1, description="largest picture accepted, megapixels")
    max_upload_gb: float = Field(20.0, gt=0, description="largest upload or unpacked archive, GB")
    lease_seconds: float = Field(60.0, gt=0, description="how long a silent worker keeps its job")
    trusted_proxies: str = Field(
        "",
        description="addresses of proxies before the site that may say for whom they ask, with "
        "commas between; default: none",
    )
    token_rate: int = Field(1200, ge=1, description="requests that a token may make in a minute")
    real_data: Path | None = Field(
        None, description="folder with the public data sets that some tests and benchmarks use"
    )

    @property
    def operational_url(self) -> str:
        """The operational database's URL, with the default filled in."""
        return self.database_url.get_secret_value() or f"sqlite:///{self.home / 'loupe.db'}"

    @property
    def tracks(self) -> bool:
        """Whether mlflow is to know of what is trained here."""
        return self.mlflow_uri != "off"

    @property
    def files_root(self) -> str:
        """Where images and weights are kept, as an fsspec URL or a path."""
        return self.files_url or str(self.home / "files")

    @property
    def cache(self) -> Path:
        """Folder of what can be made again: thumbnails, tiles, prepared models."""
        return self.home / "cache"

    @property
    def uploads(self) -> Path:
        """Folder of what browsers send, until it is imported."""
        return self.cache / "uploads"

    @property
    def tries(self) -> Path:
        """Folder of pictures that browsers send to be looked at once."""
        return self.cache / "tries"

    @property
    def exports(self) -> Path:
        """Folder of exports to be fetched by browsers."""
        return self.cache / "exports"


def read() -> Settings:
    """Read the environment; a wrong value is named with its variable."""
    try:
        found = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "LOUPE_" + "_".join(str(part) for part in first["loc"]).upper()
        raise Invalid(f"The setting {name} is wrong: {first['msg']}.") from error
    return found


def make_home(settings: Settings) -> None:
    """Make the home folder where it is missing, for its owner alone."""
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"The home folder {settings.home} cannot be made: {error.strerror}. "
            "Name another one with LOUPE_HOME."
        ) from error


@cache
def current() -> Settings:
    """The settings of this process."""
    return read()
