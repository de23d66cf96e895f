"""Tables that are bounded: by how many entries they have, and by what these weigh together."""

from concurrent.futures import ThreadPoolExecutor

from brimstone.ir.shared.cache import Cache, Weighed


def test_the_first_to_come_are_the_first_to_go() -> None:
    table: Cache[int, str] = Cache(3)
    for each in range(5):
        table.put(each, str(each))
    assert table.values() == ["2", "3", "4"]
    assert table.put(4, "another") == "4"


def test_heavy_entries_are_fewer() -> None:
    table: Weighed[int, str] = Weighed(3, 10, len)
    for each in range(5):
        table.put(each, "x")
    assert len(table) == 3
    table.put(5, "x" * 9)
    assert [len(each) for each in table.values()] == [1, 9]
    table.put(6, "x" * 99)
    assert [len(each) for each in table.values()] == [99]
    assert table.put(6, "y") == "x" * 99
    table.put(7, "x")
    assert table.values() == ["x"]
    assert table.get(6) is None


def test_many_threads() -> None:
    table: Weighed[int, str] = Weighed(50, 200, len)

    def put(at: int) -> str:
        return table.put(at % 300, "x" * (at % 300 % 7))

    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(put, range(8000))]
    assert found == ["x" * (at % 300 % 7) for at in range(8000)]
    put(1)
    assert sum(map(len, table.values())) <= 200
    assert len(table) <= 50
