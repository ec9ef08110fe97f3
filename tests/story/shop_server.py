"""A shop as an MCP server over stdio, whose tools bring the incidents of docs/story.md, with envelopes or without.

    python shop_server.py

The tools answer with envelopes (`@enveloped`, or built by hand as a careless author would). The tools named `plain_…`
do the same work and leave errors to the framework.
"""

import logging
from functools import partial
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent

from toolvet import (
    Envelope,
    conflict_error,
    error_response,
    feature_disabled_error,
    fit_response,
    not_found_error,
    rate_limit_error,
    success_response,
    unauthorized_error,
)
from toolvet.agents.integrations.enveloped import enveloped
from toolvet.agents.integrations.enveloped.request_ids import enable_request_ids
from toolvet.core.envelope import ResponseError

ORDERS = [{"id": f"A-{number}", "total": 20 + number % 7, "city": "Oslo"} for number in range(1, 201)]


@enveloped
def read_stock(article: str) -> int:
    """How many pieces of an article are in stock."""
    shelves: dict[str, int] = {}
    return shelves[article]


@enveloped
def quote_shipping(order_id: str) -> float:
    """What shipping an order costs, as the carrier's own service says."""
    raise TimeoutError(f"no answer from rates.carrier.internal for {order_id} after 30 s")


@enveloped
def get_order(order_id: str) -> dict[str, Any]:
    """Look up an order by its id."""
    found = next((order for order in ORDERS if order["id"] == order_id), None)
    if found is None:
        raise ResponseError(not_found_error("Order", order_id))
    return found


@enveloped
def search_orders(text: str) -> list[str]:  # noqa: ARG001 - what it needs for its schema, as below.
    """Search all orders for a text."""
    raise ResponseError(rate_limit_error(60, "minute", 12))


@enveloped
def list_invoices(month: str) -> list[str]:  # noqa: ARG001 - as above.
    """List the invoices of a month."""
    raise ResponseError(unauthorized_error("The access token has expired"))


@enveloped
def export_orders(month: str) -> str:  # noqa: ARG001 - as above.
    """Export the orders of a month as a file."""
    raise ResponseError(feature_disabled_error("bulk export"))


@enveloped
def cancel_order(order_id: str) -> dict[str, Any]:
    """Cancel an order that has not left the house."""
    raise ResponseError(conflict_error(f"Order {order_id} has already been shipped"))


@enveloped(fit=partial(fit_response, budget=1000))
def list_orders(city: str) -> Envelope:
    """List the orders of a city."""
    found = [order for order in ORDERS if order["city"] == city]
    # The time that the call took would change the size of the response, and with it what fits.
    return success_response({"orders": found}, telemetry={"duration_ms": 1})


@enveloped
def change_address(order_id: str, street: str, number: int) -> dict[str, Any]:
    """Change the address that an order goes to."""
    return {"order_id": order_id, "street": street, "number": number}


def send_invoice(order_id: str, email: str) -> CallToolResult:
    """Send the invoice of an order by e-mail."""
    failure = error_response(
        f"The invoice of {order_id} was not sent to {email}: the mail server cannot be reached",
        error_code="UNREACHABLE",
        error_type="unavailable",
    )
    # The careless part: the envelope says failure, and the result does not say `isError`.
    return CallToolResult(content=[TextContent(type="text", text=failure.to_json())])


ENVELOPED = (
    read_stock, quote_shipping, get_order, search_orders, list_invoices, export_orders, cancel_order, list_orders,
    change_address, send_invoice,
)  # fmt: skip


def plain_read_stock(article: str) -> int:
    """How many pieces of an article are in stock."""
    shelves: dict[str, int] = {}
    return shelves[article]


def plain_quote_shipping(order_id: str) -> float:
    """What shipping an order costs, as the carrier's own service says."""
    raise TimeoutError(f"Request timed out after 30 s while asking the carrier about {order_id}")


def plain_get_order(order_id: str) -> dict[str, Any]:
    """Look up an order by its id."""
    raise ToolError(f"Order {order_id} not found")


def plain_search_orders(text: str) -> list[str]:
    """Search all orders for a text."""
    raise ToolError(f"429 Too Many Requests while searching for {text}: retry after 12 seconds")


def plain_list_invoices(month: str) -> list[str]:
    """List the invoices of a month."""
    raise ToolError(f"401 Unauthorized: the access token has expired ({month})")


def plain_export_orders(month: str) -> str:
    """Export the orders of a month as a file."""
    raise ToolError(f"The feature 'bulk export' is not enabled for your account ({month})")


def plain_cancel_order(order_id: str) -> dict[str, Any]:
    """Cancel an order that has not left the house."""
    raise ToolError(f"409 Conflict: order {order_id} has already been shipped")


def plain_list_orders(city: str) -> str:
    """List the orders of a city."""
    found = [order for order in ORDERS if order["city"] == city]
    return "\n".join(f"{order['id']}: {order['total']} EUR" for order in found[:8]) + f"\n... {len(found) - 8} more"


def plain_change_address(order_id: str, street: str, number: int) -> str:
    """Change the address that an order goes to."""
    return f"{order_id} goes to {street} {number}"


def plain_send_invoice(order_id: str, email: str) -> str:
    """Send the invoice of an order by e-mail."""
    return f"Error: the invoice of {order_id} was not sent to {email}: connect ECONNREFUSED 10.0.0.7:25"


PLAIN = (
    plain_read_stock, plain_quote_shipping, plain_get_order, plain_search_orders, plain_list_invoices,
    plain_export_orders, plain_cancel_order, plain_list_orders, plain_change_address, plain_send_invoice,
)  # fmt: skip


def shop() -> MCPServer[Any]:
    """The server with all tools."""
    server: MCPServer[Any] = MCPServer("shop")
    tools: tuple[Any, ...] = (*ENVELOPED, *PLAIN)
    for tool in tools:
        server.tool()(tool)
    enable_request_ids(server)
    return server


if __name__ == "__main__":
    # Crashes are wanted here; their tracebacks would hide the test's own words.
    logging.disable()
    shop().run()
