"""Slack's own client: logs in by Socket Mode, hears a message, posts, looks it up, takes an order."""
import sys

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

url, bot_token, app_token = sys.argv[1:4]
web = WebClient(token=bot_token, base_url=url)
app = App(client=web, signing_secret="unused", token_verification_enabled=True)


def say(line):
    print(line, flush=True)


@app.event("message")
def heard(event, client):
    if event.get("bot_id"):
        return
    say(f"heard {event['ts']} {event['text']}")
    mark = {"event_type": "aizuchi_post", "event_payload": {"key": "k"}}
    client.chat_postMessage(channel=event["channel"], text="heard by bolt", thread_ts=event["ts"], metadata=mark)
    say("posted")
    page = client.conversations_replies(channel=event["channel"], ts=event["ts"], include_all_metadata=True)
    keys = [m["metadata"]["event_payload"]["key"] for m in page["messages"] if "metadata" in m]
    say(f"found {keys[0]} in the history")
    count = sum(len(page["members"]) for page in client.users_list(limit=3))
    say(f"people: {count} in pages of 3")


@app.command("/aizuchi")
def order(ack, command, respond):
    ack()
    say(f"order {command['text']}")
    respond("obeyed")
    try:
        WebClient(token="xoxb-wrong", base_url=url).auth_test()
    except SlackApiError as error:
        say(f"refused: {error.response['error']}")


handler = SocketModeHandler(app, app_token, web_client=WebClient(base_url=url))
handler.connect()
say("connected")
sys.stdin.read()
