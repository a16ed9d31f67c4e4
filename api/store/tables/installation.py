"""The id of the installation: one row, created with the tables."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import Base, CreatedAt, Ref


class Installation(Base):
    """Identifies this database among those that share an artifact store."""

    __tablename__ = "installation"
    __table_args__ = (CheckConstraint("only_one", name="only_one"),)

    only_one: Mapped[bool] = mapped_column(primary_key=True, server_default=text("true"))
    id: Mapped[Ref] = mapped_column(server_default=text("gen_random_uuid()"))
    created_at: Mapped[CreatedAt]
