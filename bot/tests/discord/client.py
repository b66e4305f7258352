"""A bot made with discord.py: logs in, answers one message, and says what it saw."""

import asyncio
import logging
import sys

import discord
import yarl

port, token = sys.argv[1], sys.argv[2]
discord.http.Route.BASE = f"http://127.0.0.1:{port}/api/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"ws://127.0.0.1:{port}/")

intents = discord.Intents.none()
intents.guilds = intents.guild_messages = intents.message_content = intents.guild_reactions = True
client = discord.Client(intents=intents)
echoed = asyncio.Event()


@client.event
async def on_ready():
    print("ready", client.user.name, *(guild.name for guild in client.guilds), flush=True)


@client.event
async def on_message(message):
    if message.author == client.user:
        print("echo", message.content, message.reference.message_id, flush=True)
        echoed.set()
        return
    print("heard", message.author.name, message.channel.name, message.content, flush=True)
    await message.add_reaction("👀")
    await message.reply("hello " + message.author.name, mention_author=False)
    found = [old.content async for old in message.channel.history(limit=10)]
    print("history", len(found), found[0], flush=True)
    try:
        await message.channel.send("x" * 2001)
    except discord.HTTPException as error:
        print("refused", error.status, error.code, flush=True)
    await asyncio.wait_for(echoed.wait(), 20)
    await client.close()


client.run(token, log_level=logging.WARNING)
