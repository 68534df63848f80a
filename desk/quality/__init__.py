"""Quality flags: the behaviour behind them, the flags, and exclusions."""
