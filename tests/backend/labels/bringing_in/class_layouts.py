"""Folders of classes, clear and odd ones, each with what is to come of it."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain import Split

TRAIN, VAL, TEST = Split.TRAIN, Split.VAL, Split.TEST
Said = dict[str, tuple[str, Split | None]]
Laid = dict[str, str]
LONG = "x" * 201
BESIDE = "it lies beside the folders of classes, and has no class."


@dataclass(frozen=True)
class Layout:
    """Pictures at paths (and texts), what is to come of each, and what is to be said."""

    name: str
    pictures: tuple[str, ...]
    said: Said
    told: tuple[str, ...] = ()
    texts: Laid | None = None
    classes: tuple[str, ...] | None = None


def _of(*names: str) -> tuple[str, ...]:
    return names


LAYOUTS = (
    Layout("one name in two splits", _of("train/a/1.jpg", "test/a/1.jpg"), {
        "train/a/1.jpg": ("a", TRAIN), "test/a/1.jpg": ("a", TEST),
    }),
    Layout("one name in two splits, with a list", _of("train/a/1.jpg", "test/a/1.jpg"), {
        "train/a/1.jpg": ("a", TRAIN), "test/a/1.jpg": ("a", TEST),
    }, texts={"classes.txt": "b\na\n"}, classes=("b", "a")),
    Layout("one split of one class", _of("train/a/1.jpg", "train/a/2.jpg"), {
        "a/1.jpg": ("a", TRAIN), "a/2.jpg": ("a", TRAIN),
    }),
    Layout("one folder is no class", _of("a/1.jpg", "a/2.jpg"), {
        "1.jpg": ("", None), "2.jpg": ("", None),
    }, classes=()),
    Layout("one folder that a list names", _of("a/1.jpg", "a/2.jpg"), {
        "a/1.jpg": ("a", None), "a/2.jpg": ("a", None),
    }, texts={"classes.txt": "a\n"}),
    Layout("a class without pictures", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, texts={"classes.txt": "a\nempty\nb\n"}, classes=("a", "empty", "b")),
    Layout("wrapped", _of("set/train/a/1.jpg", "set/test/b/1.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", TEST),
    }),
    Layout("wrapped twice", _of("x/y/a/1.jpg", "x/y/b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }),
    Layout("pictures between split and class", _of("train/images/a/1.jpg", "val/images/b/1.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", VAL),
    }),
    Layout("splits in capitals", _of("Train/a/1.jpg", "TEST/b/1.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", TEST),
    }),
    Layout("two words for one split", _of("train/a/1.jpg", "training/a/1.jpg"), {
        "train/a/1.jpg": ("a", TRAIN), "training/a/1.jpg": ("a", TRAIN),
    }),
    Layout("nested", _of("train/animal/cat/1.jpg", "train/animal/dog/2.jpg", "test/car/3.jpg"), {
        "animal/cat/1.jpg": ("animal/cat", TRAIN), "animal/dog/2.jpg": ("animal/dog", TRAIN),
        "car/3.jpg": ("car", TEST),
    }),
    Layout("nested in a class that has pictures", _of("train/cat/1.jpg", "train/cat/big/2.jpg"), {
        "cat/1.jpg": ("cat", TRAIN), "cat/big/2.jpg": ("cat/big", TRAIN),
    }),
    Layout("nested without splits", _of("animal/cat/1.jpg", "animal/dog/2.jpg", "car/3.jpg"), {
        "animal/cat/1.jpg": ("", None), "animal/dog/2.jpg": ("", None), "car/3.jpg": ("", None),
    }, classes=()),
    Layout("nested, named by a list", _of("animal/cat/1.jpg", "animal/dog/2.jpg", "car/3.jpg"), {
        "animal/cat/1.jpg": ("animal/cat", None), "animal/dog/2.jpg": ("animal/dog", None),
        "car/3.jpg": ("car", None),
    }, texts={"classes.txt": "car\nanimal/cat\nanimal/dog\n"},
        classes=("car", "animal/cat", "animal/dog")),
    Layout("a class that the list forgot", _of("train/a/1.jpg", "train/b/2.jpg"), {
        "1.jpg": ("a", TRAIN), "2.jpg": ("b", TRAIN),
    }, texts={"classes.txt": "a\n"}, classes=("a", "b")),
    Layout("a list of no class that is there", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("", None), "b/1.jpg": ("", None),
    }, texts={"classes.txt": "z\n"}, classes=("z",)),
    Layout("a list that is no text", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, ("classes.txt: it is not UTF-8 text: invalid start byte at byte 0.",),
        texts={"classes.txt": "\udcff"}),
    Layout("a picture beside the classes", _of("a/1.jpg", "b/1.jpg", "stray.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None), "stray.jpg": ("", None),
    }, (f"stray.jpg: {BESIDE}",)),
    Layout("a picture beside the splits", _of("train/a/1.jpg", "test/b/1.jpg", "stray.jpg"), {
        "a/1.jpg": ("a", TRAIN), "b/1.jpg": ("b", TEST), "stray.jpg": ("", None),
    }, (f"stray.jpg: {BESIDE}",)),
    Layout("many beside", _of("train/a/1.jpg", "train/1.jpg", "train/2.jpg", "train/3.jpg"), {
        "a/1.jpg": ("a", TRAIN), "1.jpg": ("", TRAIN), "2.jpg": ("", TRAIN), "3.jpg": ("", TRAIN),
    }, ("train/1.jpg: it lies beside the folders of classes, as do 2 more, and has no class.",)),
    Layout("a test set without classes", _of("test/0.jpg", "train/a/1.jpg", "train/b/2.jpg"), {
        "0.jpg": ("", TEST), "a/1.jpg": ("a", TRAIN), "b/2.jpg": ("b", TRAIN),
    }, (f"test/0.jpg: {BESIDE}",)),
    Layout("a folder that is no split", _of("train/a/1.jpg", "val/a/2.jpg", "unlabeled/3.jpg"), {
        "a/1.jpg": ("a", TRAIN), "a/2.jpg": ("a", VAL), "unlabeled/3.jpg": ("", None),
    }, (f"unlabeled/3.jpg: {BESIDE}",)),
    Layout("more beside the splits", _of("test/a/1.jpg", "test/b/2.jpg", *(
        f"more/{n}.jpg" for n in range(3, 9)
    )), {
        "a/1.jpg": ("a", TEST), "b/2.jpg": ("b", TEST),
        **{f"more/{n}.jpg": ("", None) for n in range(3, 9)},
    }, ("more/3.jpg: it lies beside the folders of classes, as do 5 more, and has no class.",)),
    Layout("more beside the splits, with a list", _of("train/a/1.jpg", "train/b/2.jpg", *(
        f"{n}.jpg" for n in range(3, 9)
    )), {
        "1.jpg": ("a", TRAIN), "2.jpg": ("b", TRAIN),
        **{f"{n}.jpg": ("", None) for n in range(3, 9)},
    }, ("3.jpg: it lies beside the folders of classes, as do 5 more, and has no class.",),
        texts={"classes.txt": "b\na\n"}, classes=("b", "a")),
    Layout("lots beside a split of lots", _of("test/l1/1.jpg", "test/l2/2.jpg", *(
        f"2024/l{n}/{n}.jpg" for n in range(3, 9)
    )), {
        "test/l1/1.jpg": ("", None), "test/l2/2.jpg": ("", None),
        **{f"2024/l{n}/{n}.jpg": ("", None) for n in range(3, 9)},
    }, classes=()),
    Layout("a class called as a split", _of("train/train/1.jpg", "test/test/2.jpg"), {
        "train/1.jpg": ("train", TRAIN), "test/2.jpg": ("test", TEST),
    }),
    Layout("a class called as what is none", _of("_/1.jpg", "b/1.jpg"), {
        "_/1.jpg": ("_", None), "b/1.jpg": ("b", None),
    }),
    Layout("classes that computers write", _of("%2E%2E/1.jpg", "=1+1/1.jpg", "a;b/1.jpg"), {
        "%2E%2E/1.jpg": ("%2E%2E", None), "=1+1/1.jpg": ("=1+1", None), "a;b/1.jpg": ("a;b", None),
    }),
    Layout("classes of all the world", _of("écaillé ñ/1.jpg", "割れ/1.jpg", "Δ∅/1.jpg"), {
        "écaillé ñ/1.jpg": ("écaillé ñ", None), "割れ/1.jpg": ("割れ", None),
        "Δ∅/1.jpg": ("Δ∅", None),
    }),
    Layout("classes that differ by their case", _of("A/1.jpg", "a/1.jpg"), {
        "A/1.jpg": ("A", None), "a/1.jpg": ("a", None),
    }),
    Layout("spaces around", _of(" a/1.jpg", "b/1.jpg"), {
        " a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, classes=("a", "b")),
    Layout("a class too long", _of(f"{LONG}/1.jpg", "b/1.jpg"), {
        f"{LONG}/1.jpg": ("", None), "b/1.jpg": ("b", None),
    }, (f"{LONG}/1.jpg: '{LONG[:40]}' cannot be the name of a class: 1 to 200 printable "
        "characters.",)),
    Layout("the background", _of("background/1.jpg", "b/1.jpg"), {
        "background/1.jpg": ("", None), "b/1.jpg": ("b", None),
    }, ("background/1.jpg: 'background' is the background, not a class.",)),
    Layout("a class of a space", _of(" /1.jpg", "b/1.jpg"), {
        " /1.jpg": ("", None), "b/1.jpg": ("b", None),
    }, (" /1.jpg: ' ' cannot be the name of a class: 1 to 200 printable characters.",)),
    Layout("a line that cannot be read", _of("a\nb/1.jpg", "a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, ("a\N{REPLACEMENT CHARACTER}b: its name is not readable text.",)),
    Layout("a table", _of("1.jpg", "2.jpg"), {
        "1.jpg": ("a", TRAIN), "2.jpg": ("b", TEST),
    }, texts={"labels.csv": "name,class,split\n1.jpg,a,train\n2.jpg,b,test\n"}),
    Layout("a table of semicolons, by stems", _of("images/1.jpg", "images/2.jpg"), {
        "1.jpg": ("b", None), "2.jpg": ("a", None),
    }, texts={"x.csv": "Image;Label\n1;b\n2;a\n"}, classes=("b", "a")),
    Layout("a table of some", _of("1.jpg", "2.jpg", "3.jpg"), {
        "1.jpg": ("", None), "2.jpg": ("", None), "3.jpg": ("a", None),
    }, texts={"labels.csv": "file,class\n3.jpg,a\n2.jpg,\n"}),
    Layout("a table with two classes of a picture", _of("1.jpg", "2.jpg"), {
        "1.jpg": ("a", None), "2.jpg": ("b", None),
    }, ("labels.csv, line 3: '1.jpg' has a line already, with the class 'a'.",),
        texts={"labels.csv": "name,class\n1.jpg,a\n1.jpg,b\n2.jpg,b\n2.jpg,b\n"}),
    Layout("a table of what is not there", _of("1.jpg"), {"1.jpg": ("a", None)}, (
        "labels.csv, line 3: its picture '9.jpg' is not in the source, or is there more than once.",
    ), texts={"labels.csv": "name,class\n1.jpg,a\n9.jpg,b\n"}),
    Layout("a table with a strange split", _of("1.jpg"), {"1.jpg": ("a", None)}, (
        "labels.csv, line 2: 'holdout' is no split: there are train, val, test.",
    ), texts={"labels.csv": "name,class,split\n1.jpg,a,holdout\n"}),
    Layout("a table against the folders", _of("a/1.jpg", "b/2.jpg"), {
        "a/1.jpg": ("b", None), "b/2.jpg": ("b", None),
    }, ("a/1.jpg: it lies in the folder of 'a', but its table says the class 'b', which counts.",),
        texts={"labels.csv": "name,class\na/1.jpg,b\nb/2.jpg,b\n"}, classes=("b",)),
    Layout("a table whose names mean two", _of("a/1.jpg", "b/1.jpg"), {
        "a/1.jpg": ("a", None), "b/1.jpg": ("b", None),
    }, ("labels.csv, line 2: its picture '1.jpg' is not in the source, or is there more than "
        "once.",), texts={"labels.csv": "name,class\n1.jpg,b\n"}),
)  # fmt: skip
