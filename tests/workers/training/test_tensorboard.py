"""What TensorBoard reads of a training, also of one that went on."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tensorboardX.proto import event_pb2

from workers.training import tensorboard


def told(folder: Path) -> list[tuple[int, str, float]]:
    """Step, name and value of each point, as TensorBoard's files hold them."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            event = event_pb2.Event.FromString(data[at + 12 : at + 12 + length])
            found += [(event.step, one.tag, one.simple_value) for one in event.summary.value]
            at += length + 16
    return found


def test_each_epoch_is_on_the_disk_at_once(tmp_path: Path) -> None:
    board = tensorboard.Board(tmp_path / "boards" / "v1")
    board.epoch(1, {"loss": 0.5, "map50": 0.25})
    assert told(tmp_path / "boards" / "v1") == [(1, "loss", 0.5), (1, "map50", 0.25)]
    again = tensorboard.Board(tmp_path / "boards" / "v1")
    again.epoch(2, {"loss": 0.25})
    assert told(tmp_path / "boards" / "v1")[-1] == (2, "loss", 0.25)
    board.close()
    again.close()


def test_a_folder_that_cannot_be_written_costs_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    board = tensorboard.Board(tmp_path / "file" / "v1")
    for epoch in (1, 2):
        board.epoch(epoch, {"loss": 0.5})
    assert len(caplog.records) == 1
    assert "takes nothing" in caplog.text


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    board = tensorboard.Board(None)
    board.epoch(1, {"loss": 0.5})
    board.close()
    assert list(tmp_path.iterdir()) == []
