"""SQL over the rows of a run by DuckDB (the extra `[store]`), and Parquet from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from postmortem.errors import PostmortemError, UsageError
from postmortem.triage.store import ROWS

TYPES = {
    "path": "VARCHAR", "status": "VARCHAR", "class": "VARCHAR", "confidence": "VARCHAR", "fingerprint": "VARCHAR",
    "title": "VARCHAR", "summary": "VARCHAR", "when": "TIMESTAMP", "run_s": "DOUBLE", "host": "VARCHAR",
    "kernel": "VARCHAR", "driver": "VARCHAR", "gpu": "VARCHAR", "unit": "VARCHAR", "image": "VARCHAR",
    "script": "VARCHAR", "provider": "VARCHAR", "region": "VARCHAR", "price": "DOUBLE", "facts": "JSON",
    "chain": "VARCHAR[]", "gaps": "JSON", "lines": "VARCHAR[]", "kind": "VARCHAR", "complete": "BOOLEAN",
    "id": "VARCHAR", "catalogue": "VARCHAR", "version": "VARCHAR", "error": "VARCHAR",
}  # fmt: skip
WRITES = {".parquet": "parquet", ".csv": "csv", ".json": "json"}


def query(out: Path, sql: str, form: str = "table", to: Path | None = None) -> str:
    """The answer as text, or the sentence that says where it was written. Raises PostmortemError."""
    connection = connected(out)
    import duckdb

    try:
        answer = connection.sql(sql)
        if to:
            return written(connection, answer, to)
        if answer is None:
            return ""
        return shown(answer, form)
    except duckdb.Error as error:
        raise PostmortemError(f"the query failed: {error}") from None


def connected(out: Path) -> Any:
    """A connection with the view `rows`: of rows for one path the last one."""
    try:
        import duckdb
    except ImportError:
        raise PostmortemError("query needs DuckDB: pip install 'postmortem[store]'") from None
    file = out / ROWS
    if not file.exists() or not file.stat().st_size:
        raise PostmortemError(f"there are no rows in {out}; run postmortem triage --out {out} first")
    connection = duckdb.connect()
    name = str(file).replace("'", "''")
    names = ", ".join(f"'{k}': '{v}'" for k, v in TYPES.items())
    connection.execute(
        f"create view rows as select * exclude (n) from (select *, row_number() over () as n from read_json('{name}', "
        f"format='newline_delimited', columns={{{names}}}, maximum_object_size=16777216)) "
        "qualify row_number() over (partition by path order by n desc) = 1 order by n"
    )
    return connection


def written(connection: Any, answer: Any, to: Path) -> str:
    kind = WRITES.get(to.suffix)
    if not kind or answer is None:
        raise UsageError(f"{to} cannot be written; give a query, and a name that ends in {', '.join(WRITES)}")
    answer.create_view("answer", replace=True)
    name = str(to).replace("'", "''")
    count = connection.execute(f"copy (from answer) to '{name}' (format {kind})").fetchone()[0]
    return f"{to}: {count} rows\n"


def shown(answer: Any, form: str) -> str:
    if form == "table":
        frame = answer.df()
        return str(frame.to_string(index=False, na_rep="NULL")) + "\n" if len(frame) else "(no rows)\n"
    frame = answer.df()
    return (
        str(frame.to_csv(index=False))
        if form == "csv"
        else str(frame.to_json(orient="records", date_format="iso")) + "\n"
    )
