"""`GET /v1/audit`: who did what, for admins."""

from typing import Annotated

import msgspec

from toolvet.server.access.role import Role
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint
from toolvet.server.dashboard.api.fields import Limit, Name
from toolvet.store.audit import AuditEntry, read_entries


class AuditQuery(ApiBody, frozen=True, kw_only=True):
    """Whose deeds, which ones, and how many at most; `cursor` is the `next` of the page before."""

    limit: Limit = 100
    cursor: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000)] | None = None
    who: Name | None = None
    action: Name | None = None


class AuditList(msgspec.Struct, frozen=True, kw_only=True):
    """Entries, the newest first; `next` is the cursor of the next page."""

    entries: list[AuditEntry]
    next: int | None


def _list(asked: ApiRequest[AuditQuery]) -> AuditList:
    query = asked.body
    found = read_entries(asked.site.store, who=query.who, action=query.action, before=query.cursor, limit=query.limit)
    return AuditList(entries=found, next=found[-1].seq if len(found) == query.limit else None)


ENDPOINTS = (
    Endpoint("GET", "/v1/audit", "List who did what.", AuditQuery, _list, reply=AuditList, role=Role.ADMIN, waits=True),
)
