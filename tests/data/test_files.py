"""CSV, JSON lines, folders of texts: what they hold, and why they are refused."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from brimstone import data

QUOTED = 'name,text\nAnn,"one, ""two""\nthree"\n\nBo,"a\u2028b"\nCy,\n'


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_csv(tmp_path: Path, ending: str, mark: bytes) -> None:
    path = written(tmp_path, "a.csv", mark + QUOTED.replace("\n", ending).encode())
    dataset = data.Csv(path)
    assert dataset.columns == ["name", "text"]
    assert list(dataset) == [
        {"name": "Ann", "text": f'one, "two"{ending}three'},
        {"name": "Bo", "text": "a\u2028b"},
        {"name": "Cy", "text": ""},
    ]
    assert pickle.loads(pickle.dumps(dataset))[1] == dataset[1]


def test_csv_with_names_and_functions(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "1;x\n2;y")
    dataset = data.Csv(path, columns=["n", "s"], convert={"n": int}, delimiter=";")
    assert [dataset[-1], dataset[0]] == [{"n": 2, "s": "y"}, {"n": 1, "s": "x"}]


BROKEN_CSV = {
    "empty": (b"", "name of its own"),
    "twice": (b"a,a\n", "name of its own"),
    "short": (b"a,b\n1,2\n3\n", "line 3 has 1 fields and not 2"),
    "long": (b"a,b\n1,2,3\n", "line 2 has 3 fields and not 2"),
    "open quote": (b'a,b\n1,"2\n', "unexpected end of data"),
    "stray": (b'a,b\n1,"2"3\n', "expected after"),
    "latin": (b"a,b\n\xe9,2\n", "can't decode byte 0xe9"),
}


@pytest.mark.parametrize("name", BROKEN_CSV)
def test_broken_csv(tmp_path: Path, name: str) -> None:
    content, words = BROKEN_CSV[name]
    path = written(tmp_path, "a.csv", content)
    with pytest.raises(data.DataError, match=f"(?s){path}.*{words}.*test_files.py"):
        data.Csv(path)


def test_csv_that_cannot_be_converted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "n\n1\nx\n")
    dataset = data.Csv(path, convert={"n": int})
    assert dataset[0] == {"n": 1}
    with pytest.raises(data.DataError, match="record 1, column 'n': invalid literal"):
        dataset[1]
    with pytest.raises(ValueError, match=r"no column 'm' among \['n'\]"):
        data.Csv(path, convert={"m": int})
    with pytest.raises(ValueError, match="no mapping"):
        data.Csv(path, convert=float)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="no single character"):
        data.Csv(path, delimiter=", ")


def test_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"a": 1}\n\n  \n[2]\nnull')
    assert list(data.JsonLines(path)) == [{"a": 1}, [2], None]
    assert len(data.JsonLines(written(tmp_path, "empty", ""))) == 0


@pytest.mark.parametrize("line", ["{", "[" * 100_000, "\udcff".encode("utf-8", "surrogatepass")],
                         ids=["open", "deep", "surrogate"])  # fmt: skip
def test_broken_json_lines(tmp_path: Path, line: Any) -> None:
    start = b"1\n"
    path = written(tmp_path, "a.jsonl", start + (line.encode() if isinstance(line, str) else line))
    dataset = data.JsonLines(path)
    assert dataset[0] == 1
    with pytest.raises(data.DataError, match="record 1, at byte 2: "):
        dataset[1]


def test_a_file_that_changes(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", "1\n22\n")
    dataset = data.JsonLines(path)
    written(tmp_path, "a.jsonl", "1\n2")
    with pytest.raises(data.DataError, match="has become shorter"):
        dataset[1]


def test_folders_of_texts(tmp_path: Path) -> None:
    written(tmp_path, "pos/b.txt", "good")
    written(tmp_path, "pos/more/a.TXT", "better")
    written(tmp_path, "neg/a.txt", "bad")
    written(tmp_path, "neg/a.md", "no text")
    written(tmp_path, "neg/.hidden.txt", "no text")
    written(tmp_path, ".git/a.txt", "no class")
    written(tmp_path, "readme.txt", "no class")
    dataset = data.TextFolder(tmp_path)
    assert dataset.classes == ["neg", "pos"]
    assert list(dataset) == [("bad", 0), ("good", 1), ("better", 1)]
    assert dataset[0].label == 0


def test_folders_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(data.DataError, match="No such file"):
        data.TextFolder(tmp_path / "nowhere")
    (tmp_path / "pos").mkdir()
    with pytest.raises(data.DataError, match=r"no such file in it(?s:.*)\.txt"):
        data.TextFolder(tmp_path)
    written(tmp_path, "pos/a.txt", b"\xff")
    with pytest.raises(data.DataError, match=r"a\.txt: 'utf-8' codec"):
        data.TextFolder(tmp_path)[0]


def test_news(tmp_path: Path) -> None:
    path = written(tmp_path, "train.csv", '"3","Oil up","Prices ""rose"" again"\n"1","War",""\n')
    dataset = data.AgNews(tmp_path)
    assert dataset[0] == ('Oil up Prices "rose" again', 2)
    assert dataset.classes[dataset[0].label] == "Business"
    with pytest.raises(data.DataError, match=r"test\.csv: No such file"):
        data.AgNews(tmp_path, train=False)
    path.write_text('"5","a","b"')
    with pytest.raises(data.DataError, match="record 0 is of class '5'"):
        data.AgNews(tmp_path)[0]
