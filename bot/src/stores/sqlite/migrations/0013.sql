-- Only what was changed after it was said: what was not is found by its first number. One page less is written for each message.
DROP INDEX web_message_room_seq;
CREATE INDEX web_message_changed ON web_message (room, seq) WHERE seq <> first_seq;
