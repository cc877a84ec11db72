"""The catalogue as a table."""

from __future__ import annotations

from scenes import catalogue

from postmortem.signatures import Row, listing


def test_rows_by_id() -> None:
    book = catalogue(
        "id: c.d\ntitle: C\nwhen: [{any: [{event: exit}, {log: 'abcd'}]}]\nfor: [{log: 'efgh'}]\nexplains: [a.b]",
        "id: a.b\ntitle: A\nrole: symptom\nwhen: [{event: zombie}]",
    )
    assert listing(book) == (Row("a.b", "symptom", "A", 1, 0, ()), Row("c.d", "root", "C", 2, 2, ("a.b",)))
