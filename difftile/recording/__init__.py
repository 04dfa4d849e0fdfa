"""What ran, kept so that it can be reversed: records, histories, replays, opaque steps."""
