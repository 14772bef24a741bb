"""The page of figures is what its generator makes of the figures that were kept."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks import results


def test_the_page_of_figures_is_what_was_kept() -> None:
    assert results.PAGE.read_text(encoding="utf-8") == results.page(), (
        "run `python -m tests.benchmarks.results`"
    )


def test_every_table_is_of_a_benchmark_that_keeps_its_figures() -> None:
    for path in results.FOLDER.glob("*.json"):
        (program,) = results.HERE.glob(f"*/{path.stem}.py")
        assert f'results.keep("{path.stem}"' in program.read_text(encoding="utf-8")


def test_what_is_measured_again_takes_the_place_of_what_was(
    tmp_path: Path,
) -> None:
    results.keep("speed", [results.Figure("a save", 5, "ms", how="2 cores")], tmp_path)
    results.keep("speed", [results.Figure("a save", 7, "ms", how="4 cores")], tmp_path)
    results.keep("speed", [results.Figure("a save", 6, "ms", "p95 9", how="2 cores")], tmp_path)
    found = [(row.how, row.value, row.spread) for row in results.read("speed", tmp_path)]
    assert found == [("4 cores", 7, ""), ("2 cores", 6, "p95 9")]
    assert all(row.when for row in results.read("speed", tmp_path))
