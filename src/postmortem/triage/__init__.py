"""Many bundles: read them on any executor, keep a row of each, group, count and compare.

roots     PATH, GLOB or s3://bucket/prefix -> items
work      a batch of items -> rows, in a worker: each item goes to a child process with limits (minder, child)
engines   this machine or a Dask cluster, as one kind of executor
store     OUT/rows.jsonl and its side files
run       items -> rows in the store
summary   rows -> what fails, where, since when
"""

from __future__ import annotations
