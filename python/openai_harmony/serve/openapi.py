"""What the server has to offer, as an OpenAPI description: its paths, and what each is for."""

from __future__ import annotations

import inspect
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import openai_harmony


def described(routes: list[Route]) -> list[Route]:
    """The routes, and a route that describes them."""
    made = JSONResponse(
        {
            "openapi": "3.1.0",
            "info": {"title": "openai-harmony", "version": openai_harmony.__version__},
            "paths": _paths(routes),
        }
    )

    async def description(request: Request) -> Response:
        return made

    return [*routes, Route("/openapi.json", description)]


def _paths(routes: list[Route]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route in routes:
        path = route.path.replace(":path}", "}")
        methods = (route.methods or set()) - {"HEAD"}
        paths.setdefault(path, {}).update(
            {method.lower(): _operation(route, path) for method in sorted(methods)}
        )
    return paths


def _operation(route: Route, path: str) -> dict[str, Any]:
    summary = (inspect.getdoc(route.endpoint) or "").partition("\n")[0]
    made: dict[str, Any] = {
        "summary": summary.replace("``", ""),
        "responses": {"200": {"description": "The answer."}},
    }
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    if names:
        schema = {"type": "string"}
        made["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": schema} for name in names
        ]
    return made
