"""An agent in the official Python client of MCP. Plays the match that a server offers; the last line is its result.

    agent.py PLAN SERVER ARGS...

PLAN: `play` the first legal move each time, `leave` or `resign` at the first turn, `write` a bot with the tools for that, or `err` in every way before moving.
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(plan: str, command: str, *args: str) -> None:
    server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        greeting = await session.initialize()
        tools = (await session.list_tools()).tools
        print(json.dumps({"instructions": greeting.instructions, "tools": {tool.name: tool.input_schema for tool in tools}}))

        async def call(tool: str, **arguments: object) -> str:
            result = await session.call_tool(tool, arguments)
            text = "".join(part.text for part in result.content)
            if result.is_error:
                print(json.dumps({"error": text}))
            return text

        print(json.dumps({"rules": await call("rules")}))
        if plan == "write":
            available = (await call("play", opponent="?", matches=2)).rsplit("available: ", 1)[1]
            for tool, arguments in [
                ("check", {}),
                ("play", {"opponent": available, "matches": 2}),
                ("lost_match", {}),
                ("regress", {"opponent": available, "matches": 2}),
                ("play", {"opponent": available, "matches": 3}),
                ("play", {}),
                ("lost_match", {"match": "9/m1"}),
            ]:
                print(json.dumps({"tool": tool, "text": await call(tool, **arguments)}))
            await call("move", move="1-5")
            print(json.dumps({"sat": json.loads(await call("sit", opponent=available, seat=1))}))
            await call("sit", opponent=available)
        while True:
            seen = json.loads(await call("wait_for_turn", timeout_s=60))
            if seen["state"] == "over":
                if plan == "err":
                    await call("move", move="1-32")
                    await call("resign")
                print(json.dumps(seen))
                return
            if plan == "leave":
                return
            if plan == "resign":
                await call("resign")
                continue
            if plan == "err":
                print(json.dumps(seen))
                await call("move", move="1-32")
                await call("move", move="accept draw")
                legal = seen["legal"][0]
                for wrong in [{}, {"move": 7}, {"move": legal, "offer_draw": "yes"}, {"move": legal, "offers_draw": True}]:
                    await call("move", **wrong)
                for seconds in [-1, 3601]:
                    await call("wait_for_turn", timeout_s=seconds)
                await call("resign", reason="lost")
            await call("move", move=seen["legal"][0])


asyncio.run(main(*sys.argv[1:]))
