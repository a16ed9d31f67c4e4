"""Audits every foreign key of the schema, in case rows were changed without the database's checks."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ForeignKeyConstraint, Table, and_, func, select
from sqlalchemy.orm import Session

from api.store.tables import Base
from api.store.verify.report import Finding, FindingKind


def orphaned_rows(session: Session) -> Iterator[Finding]:
    """Rows whose parent row does not exist."""
    for table in Base.metadata.sorted_tables:
        for key in sorted(table.foreign_key_constraints, key=lambda key: str(key.name)):
            count = _without_parent(session, table, key)
            if count:
                columns = ", ".join(column.name for column in key.columns)
                yield Finding(
                    wrong=FindingKind.ORPHANED,
                    subject=f"table {table.name}",
                    detail=f"{count} rows name a row of {key.referred_table.name} by {columns} that does not exist",
                )


def _without_parent(session: Session, table: Table, key: ForeignKeyConstraint) -> int:
    parent = key.referred_table.alias("parent")
    pairs = [(table.c[element.parent.name], parent.c[element.column.name]) for element in key.elements]
    query = (
        select(func.count())
        .select_from(table.outerjoin(parent, and_(*(child == its for child, its in pairs))))
        .where(*(child.is_not(None) for child, _ in pairs), pairs[0][1].is_(None))
    )
    return session.scalar(query) or 0
